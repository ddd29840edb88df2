// A picture in large; space and the arrow keys switch between before and after.
const dialog = document.querySelector("dialog");
let pair = [], at = 0;
function show(index) {
  at = (index + pair.length) % pair.length;
  const frame = dialog.querySelector(".frame");
  frame.parentElement.className = pair[at].parentElement.className;
  frame.innerHTML = pair[at].innerHTML;
  dialog.querySelector("b").textContent = pair[at].parentElement.querySelector("figcaption").textContent;
}
document.addEventListener("click", (event) => {
  const frame = event.target.closest(".frame");
  if (dialog.open) { if (frame || event.target === dialog) dialog.close(); return; }
  if (!frame) return;
  pair = [...frame.closest(".pair").querySelectorAll(".frame")];
  show(pair.indexOf(frame));
  dialog.showModal();
});
dialog.addEventListener("keydown", (event) => {
  if ([" ", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].includes(event.key)) {
    event.preventDefault();
    show(at + 1);
  }
});
