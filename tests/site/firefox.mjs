// Uses the site in Firefox, over WebDriver BiDi:
// node firefox.mjs PUPPETEER ADDRESS JSON
// The last argument is {pages, widths, typed, speeds, things}; the answer is JSON, too:
// {typed: what is left of the text at each speed, wide: pages that scroll sideways,
// errors: what scripts and console say, things: what each says at first, and after one
// key}. Without pages, only things are used.
const [, , puppeteer, address, asked] = process.argv;
const { default: launcher } = await import(puppeteer);
const { pages, widths, typed, speeds, things } = JSON.parse(asked);
const executablePath = process.env.FIREFOX ?? "/usr/bin/firefox-esr";
const browser = await launcher.launch({ browser: "firefox", executablePath });
const page = await browser.newPage();
const found = { typed: [], wide: [], errors: [], things: {} };
page.on("pageerror", (error) => found.errors.push(error.message));
page.on("console", (said) => said.type() === "error" && found.errors.push(said.text()));

if (pages.length) await live();
for (const width of widths) {
  await page.setViewport({ width, height: 900 });
  for (const name of pages) {
    await page.goto(`${address}/${name}`);
    await new Promise((go) => setTimeout(go, 300));
    const beyond = await page.evaluate(() =>
      document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (beyond > 0) found.wide.push(`${name} at ${width}: ${beyond}`);
  }
}
for (const name of things) await use(name);
await browser.close();
console.log(JSON.stringify(found));

async function live() {
  await page.goto(`${address}/live.html#model=en-de&text=Two+dogs.`);
  for (const delay of speeds) {
    const field = await page.waitForSelector(">>> #text");
    await field.click({ count: 3 });
    await field.press("Backspace");
    await field.type(typed, { delay });
    await new Promise((go) => setTimeout(go, 1500));
    found.typed.push(await field.evaluate((one) => one.value));
  }
  await page.waitForSelector(">>> .offer", { hidden: true, timeout: 120000 });
  await new Promise((go) => setTimeout(go, 3000));
  const result = await page.waitForSelector(">>> .result");
  found.result = await result.evaluate((one) => one.innerText);
}

// The first control of a thing, by a key; the training page is begun.
async function use(name) {
  await page.goto(`${address}/${name}`);
  await page.waitForSelector(".nmt-attention.drawn");
  const says = () => document.querySelector(".nmt-attention").shadowRoot
    .querySelector(".readout, [data-part=log]").innerText;
  const before = await page.evaluate(says), key = await page.evaluate(() => {
    const root = document.querySelector(".nmt-attention").shadowRoot;
    const one = root.querySelector("[type=range], .cell, button.main") ??
      root.querySelector("input");
    one.focus();
    if (one.type === "range") return one.value === one.max ? "ArrowLeft" : "ArrowRight";
    return one.type === "text" ? "x" : "Enter";
  });
  await page.keyboard.press(key);
  await page.waitForFunction(`(${says})() !== ${JSON.stringify(before)}`);
  found.things[name] = [before, await page.evaluate(says)];
}
