// Drives Firefox over WebDriver BiDi: node firefox.mjs PUPPETEER FIREFOX < STEPS
// Each step is a method of puppeteer's page, or of its keyboard, and what it is given;
// without that, the last answer. The output is {answers, errors}, which are texts.
import { readFileSync } from "node:fs";

const [, , puppeteer, executablePath] = process.argv, answers = [], errors = [];
const { default: launcher } = await import(puppeteer);
const browser = await launcher.launch({ browser: "firefox", executablePath });
const page = await browser.newPage();
page.on("pageerror", ({ message }) => errors.push(message));
page.on("console", (said) => said.type() === "error" && errors.push(said.text()));
for (const [what, ...given] of JSON.parse(readFileSync(0, "utf8"))) {
  const part = what === "press" ? page.keyboard : page;
  const answer = await part[what](...(given.length ? given : answers.slice(-1)));
  if (what === "evaluate") answers.push(answer);
}
await browser.close();
console.log(JSON.stringify({ answers, errors }));
