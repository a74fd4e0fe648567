// What the live page stores: the answers of its own scripts, computed in Node.
// `python -m tools.book` gives it a job in JSON, and reads the answers in JSON.

import { readFileSync } from "node:fs";

const job = JSON.parse(readFileSync(0, "utf8"));
const { makeAnswers } = await import(`${job.scripts}/page_answers.js`);
const answers = makeAnswers(job, job.worker), stored = [];

async function store(model, asked, changes) {
  const question = { model, asked, beam: 1, closed: [], prefix: [], ...changes };
  stored.push(await answers.ask(question));
  return stored.at(-1);
}

for (const { name, examples, failures } of job.models) {
  await answers.open(name, new Uint8Array(readFileSync(job.files[name])).buffer);
  for (const text of [...examples, ...failures]) await store(name, text);
}
const { model, text, beam } = job.searched;
await store(model, text, { beam });
for (const { shows: { model, text, closed } } of job.ideas) {
  const { ids } = await store(model, text, { closed: [closed] });
  await store(model, text, { prefix: ids }); // its words, with all heads on
}
const rounded = (key, value) => typeof value === "number" ? +value.toFixed(5) : value;
process.stdout.write(JSON.stringify(stored, rounded));
