/* Whatever is wider than the window can be scrolled with the keyboard, too; the rest is no stop for
   the Tab key. */
(function () {
  "use strict";
  function look() {
    document.querySelectorAll(".scroll, .formula").forEach(function (box) {
      if (box.scrollWidth > box.clientWidth) { box.tabIndex = 0; }
      else { box.removeAttribute("tabindex"); }
    });
  }
  window.addEventListener("resize", look);
  look();
})();
