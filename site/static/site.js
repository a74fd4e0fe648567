// A name for the arrows that open a part of the contents.
for (const arrow of document.querySelectorAll(".bd-sidebar-primary summary"))
  arrow.setAttribute("aria-label", "Pages of " + arrow.closest("li").querySelector("a").textContent);

// Named by what stands on it: "Search", and its keys.
for (const button of document.querySelectorAll(".search-button-field")) button.removeAttribute("aria-label");

// A picture opens alone, to be enlarged with two fingers.
for (const image of document.querySelectorAll(".cell_output img")) {
  const link = document.createElement("a");
  link.href = image.src;
  image.replaceWith(link);
  link.append(image);
}

// What scrolls inside itself can be reached and scrolled with the keyboard.
window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  for (const box of document.querySelectorAll("pre, .cell_output, .math, mjx-container"))
    if (box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === "auto") box.tabIndex = 0;
});
