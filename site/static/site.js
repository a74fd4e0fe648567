// The side bar begins at its top, unless its page is further down. Tab reaches the page
// before its forty links.
const pages = document.querySelector(".bd-sidebar-primary");
pages.parentElement.append(pages);
addEventListener("load", () => {
  pages.scrollTop = 0;
  pages.querySelector("li.current.active > a")?.scrollIntoView({ block: "nearest" });
});

// A name for the arrows that open a part of the contents.
for (const arrow of document.querySelectorAll(".bd-sidebar-primary summary"))
  arrow.ariaLabel = `Pages of ${arrow.closest("li").querySelector("a").textContent}`;

// Named by what stands on it: "Search", and its keys.
for (const button of document.querySelectorAll(".search-button-field"))
  button.removeAttribute("aria-label");

// On a phone, a printed output without columns wraps instead of scrolling.
for (const pre of document.querySelectorAll(".cell_output .output pre"))
  if (!/\S {3,}[-+.\d]|\S {4,}\S|▒/.test(pre.textContent)) pre.classList.add("prose");

// A name in a table breaks between its words.
const ENDS = /[^\W_]{4,}[_./|(](?=\S)|[a-z](?=[A-Z])/g;
for (const code of document.querySelectorAll(".bd-article table .pre"))
  code.innerHTML = code.innerHTML.replace(ENDS, "$&<wbr>");

// On a phone, the parts of a formula stand one below the other.
function parts(tex) {
  const found = [""];
  let depth = 0;
  for (const [token] of tex.matchAll(/\\(?:[a-zA-Z]+|.)|[{}]|[^\\{}]+/gs)) {
    depth += ["{", "\\begin", "\\left"].includes(token);
    depth -= ["}", "\\end", "\\right"].includes(token);
    if (token === "\\qquad" && depth === 0) found.push("");
    else found[found.length - 1] += token;
  }
  return found;
}
for (const math of innerWidth < 768 ? document.querySelectorAll("div.math") : []) {
  const tex = math.textContent.trim().slice(2, -2); // without \[ and \]
  // Sphinx puts this around a formula with line ends of its own, such as a matrix.
  const rows = parts(tex.replace(/\\(begin|end)\{split\}/g, ""));
  const all = rows.join("\\\\[0.4em]");
  if (rows.length > 1)
    math.textContent = `\\[\\begin{gathered}${all}\\end{gathered}\\]`;
}

// What scrolls inside itself can be reached and scrolled with the keyboard.
function reach() {
  const boxes = document.querySelectorAll("pre, .cell_output, .math, mjx-container");
  for (const box of boxes) {
    const wide = box.scrollWidth > box.clientWidth;
    if (wide && getComputedStyle(box).overflowX === "auto") box.tabIndex = 0;
  }
}
addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  reach();
  // A phone that is turned, too.
  addEventListener("resize", () => requestAnimationFrame(reach));
});

// On paper, what is folded stands open, and the page is white.
const theme = document.documentElement.dataset;
let shown, before;
addEventListener("beforeprint", () => {
  before = theme.theme;
  theme.theme = "light";
  shown = [...document.querySelectorAll(".bd-article details:not([open])")];
  for (const fold of shown) fold.open = true;
});
addEventListener("afterprint", () => {
  theme.theme = before;
  for (const fold of shown) fold.open = false;
});
