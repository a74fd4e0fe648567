"""The training page of the site; ``python -m tools.train`` records the film of a
training that it shows where no script runs (this needs Node).
"""

from __future__ import annotations

import json
import subprocess

from nmt_book import web
from nmt_book.web import train_page

FILM = web.FILES / "train_film.json"
FRAMES = (25, 50, 75, 100, 125, 150, 200, 300, 400, 500)  # updates
RECORD = """
import { readFileSync } from "fs"
const { folder, packed, text, reference, steps } = JSON.parse(readFileSync(0, "utf8"))
const { Session } = await import(`${folder}/train_session.js`)
const { unpacked } = await import(`${folder}/packed.js`)
const session = await Session.create(await unpacked(packed).json(), { seed: 1 })
const film = { text, frames: [] }
for (const step of steps) {
  while (session.step < step) session.update()
  const look = await session.look(text, reference), [[map]] = look.cross
  const weights = map.map((row) => Array.from(row, (p) => Math.round(100 * p)))
  const { loss, said, right } = look
  film.frames.push({ step, loss: +loss.toFixed(2), right, said, weights })
  Object.assign(film, { rows: look.tokens, columns: look.source })
}
process.stdout.write(JSON.stringify(film))
"""


def site_page() -> str:
    """The page as HTML."""
    film = json.loads(FILM.read_text(encoding="utf-8"))
    return train_page.train_page("live.html", film)


def main() -> None:
    example = train_page.page_data()["examples"][0]
    job = {key: example[key] for key in ("text", "reference")}
    job |= {"folder": str(web.FILES), "steps": FRAMES}
    job |= {"packed": train_page.pack(train_page.training_data())}
    command = ["node", "--input-type=module", "--eval", RECORD]
    film = subprocess.check_output(command, input=json.dumps(job), text=True)
    frames = film.replace('{"step"', '\n{"step"')
    FILM.write_text(f"{frames}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
