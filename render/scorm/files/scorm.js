// SCORM 1.2 for the course page, by the hook that stands at the head of page.js: window.lecture.
// This script comes before the page's own, asks it to leave remembering to the platform, and
// reports:
//
//   cmi.core.lesson_status    incomplete; completed as soon as 90 % of all sentences were played
//   cmi.core.lesson_location  scene and second, for people
//   cmi.suspend_data          the page's bookmark: where the learner is, and what was seen
//   cmi.core.session_time     how long this visit was
//
// Without a learning platform around it nothing is reported, and the page remembers by itself.
(() => {
  "use strict";
  const ENOUGH = 0.9; // of the sentences
  const PAUSE = 20000; // milliseconds between two reports, unless there is news
  const LIMIT = 4096; // characters of suspend_data, by the standard

  // The platform offers its interface in a window around this one, or in the one that opened it.
  function find(from) {
    let view = from;
    for (let depth = 0; view && depth < 500; depth += 1) {
      try {
        if (view.API) return view.API;
        if (view.parent === view) return null;
      } catch {
        return null; // another site's window
      }
      view = view.parent;
    }
    return null;
  }
  const api = find(window) || (window.opener ? find(window.opener) : null);
  const begun = Date.now();
  let completed = false;
  let reported = 0;
  let open = false;

  const get = (name) => String(api.LMSGetValue(name) ?? "");
  const set = (name, value) => api.LMSSetValue(name, String(value));

  function stayed() {
    const hundredths = Math.floor((Date.now() - begun) / 10);
    const seconds = Math.floor(hundredths / 100);
    const two = (number) => String(number % 60).padStart(2, "0");
    const hours = String(Math.floor(seconds / 3600)).padStart(4, "0");
    const rest = String(hundredths % 100).padStart(2, "0");
    return `${hours}:${two(Math.floor(seconds / 60))}:${two(seconds)}.${rest}`;
  }

  function report(state, now) {
    if (!open || !state) return;
    const news = state.completed && !completed;
    if (!now && !news && Date.now() - reported < PAUSE) return;
    set("cmi.core.lesson_location", `${state.scene} ${state.time}`.slice(0, 255));
    if (state.bookmark.length < LIMIT) set("cmi.suspend_data", state.bookmark);
    if (news) {
      completed = true;
      set("cmi.core.lesson_status", "completed");
    }
    set("cmi.core.session_time", stayed());
    api.LMSCommit("");
    reported = Date.now();
  }

  const state = () => (window.lecture.state ? window.lecture.state() : null);

  function begin() {
    const status = get("cmi.core.lesson_status");
    completed = status === "completed" || status === "passed";
    if (!completed && status !== "incomplete") set("cmi.core.lesson_status", "incomplete");
    set("cmi.core.exit", "suspend"); // so that the platform keeps what is reported
    api.LMSCommit("");
  }

  function end() {
    if (!open) return;
    report(state(), true);
    open = false;
    api.LMSFinish("");
  }

  open = Boolean(api) && String(api.LMSInitialize("")) === "true";
  if (!open) return;
  begin();
  const kept = get("cmi.suspend_data");
  window.lecture = { remember: false, enough: ENOUGH, onprogress: (told) => report(told, false) };
  document.addEventListener("DOMContentLoaded", () => {
    if (kept && window.lecture.resume) window.lecture.resume(kept);
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") report(state(), true);
  });
  window.addEventListener("pagehide", end);
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) window.location.reload(); // back again: a new visit
  });
})();
