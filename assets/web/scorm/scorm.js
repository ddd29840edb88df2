// SCORM 1.2 for the course page. The page knows nothing of SCORM: it asks `lectureHost.start()`
// once where to begin, and tells `lectureHost.at(scene, seconds, length)` where it is while a scene
// plays (scene: its place in the page, from 0; seconds and length: of the scene's video). The answer
// is whether the platform has taken what it was told last; it may refuse, or throw, at any time.
//
//   cmi.core.lesson_status    incomplete; completed when nine tenths of every scene were played
//   cmi.core.lesson_location  the scene's place and the second, to begin at next time
//   cmi.suspend_data          which parts of which scenes were played
//   cmi.core.session_time     how long this visit was
//
// Without a learning platform around it there is no host, and the page remembers by itself.
(() => {
  "use strict";
  const script = document.currentScript;
  const SCENES = Number(script.dataset.scenes);
  const PARTS = 50; // of a scene; which of them were played is what is remembered
  const ENOUGH = 0.9; // of a scene's parts, and it is seen
  const STEP = 5; // seconds; a longer way between two reports is a jump, not playing
  const COMMIT = 20000; // milliseconds between two reports to the platform
  const VERSION = "1";

  // The platform offers its interface in this window, in one around it, or in one that opened any
  // of these: a popup's page may itself be a frame.
  function find(from, depth = 0) {
    const views = [];
    for (let view = from; view && !views.includes(view); view = view.parent) {
      views.push(view);
      try {
        if (view.API) return view.API;
      } catch {
        // another site's window; those around it may be the platform's again
      }
    }
    const openers = depth < 5 ? views.map((view) => view.opener) : [];
    return openers.filter(Boolean).reduce((api, view) => api || find(view, depth + 1), null);
  }
  const api = find(window);
  const played = Array.from({ length: SCENES }, () => new Uint8Array(PARTS));
  const begun = Date.now();
  let open = false;
  let completed = false;
  let place = null;
  let last = null;
  let reported = 0;
  let taken = true; // whether the platform took everything that it was told last

  function call(name, ...values) {
    try {
      return String(api[name](...values) ?? "");
    } catch {
      taken = false;
      return "";
    }
  }
  const get = (name) => call("LMSGetValue", name);
  const set = (name, value) => order("LMSSetValue", name, String(value));

  function order(name, ...values) {
    if (call(name, ...values) !== "true") taken = false;
  }

  // Which parts were played, as one hexadecimal text for each scene: 13 digits for 50 parts.
  function pack() {
    const scenes = played.map((parts) => {
      let text = "";
      for (let start = 0; start < PARTS; start += 4) {
        let digit = 0;
        for (let bit = 0; bit < 4; bit += 1) digit = digit * 2 + (parts[start + bit] || 0);
        text += digit.toString(16);
      }
      return text.replace(/0+$/, "");
    });
    return [VERSION, ...scenes].join(",");
  }
  function unpack(text) {
    const [version, ...scenes] = text.split(",");
    if (version !== VERSION) return;
    scenes.slice(0, SCENES).forEach((digits, scene) => {
      [...digits].forEach((digit, index) => {
        const value = parseInt(digit, 16);
        for (let bit = 0; bit < 4; bit += 1) {
          const part = index * 4 + bit;
          if (value & (8 >> bit) && part < PARTS) played[scene][part] = 1;
        }
      });
    });
  }

  const seen = (parts) => parts.reduce((sum, part) => sum + part, 0) >= ENOUGH * PARTS;

  function stayed() {
    const hundredths = Math.floor((Date.now() - begun) / 10);
    const two = (number) => String(Math.floor(number)).padStart(2, "0");
    const seconds = hundredths / 100;
    return (
      `${String(Math.floor(seconds / 3600)).padStart(4, "0")}:${two((seconds % 3600) / 60)}` +
      `:${two(seconds % 60)}.${two(hundredths % 100)}`
    );
  }

  function report() {
    if (!open) return;
    taken = true;
    if (place) set("cmi.core.lesson_location", `${place.scene} ${place.seconds.toFixed(1)}`);
    set("cmi.suspend_data", pack());
    if (!completed && played.every(seen)) {
      completed = true;
      set("cmi.core.lesson_status", "completed");
    }
    set("cmi.core.session_time", stayed());
    order("LMSCommit", "");
    reported = Date.now();
  }

  function begin() {
    const status = get("cmi.core.lesson_status");
    completed = status === "completed" || status === "passed";
    if (!completed && status !== "incomplete") set("cmi.core.lesson_status", "incomplete");
    set("cmi.core.exit", "suspend"); // so that the platform keeps where the learner was
    unpack(get("cmi.suspend_data"));
    const [scene, seconds] = get("cmi.core.lesson_location").split(" ").map(Number);
    if (scene >= 0 && scene < SCENES && seconds >= 0) place = { scene, seconds };
    order("LMSCommit", "");
  }

  function end() {
    if (!open) return;
    report();
    open = false;
    order("LMSFinish", "");
  }

  if (!api) return;
  open = call("LMSInitialize", "") === "true";
  taken = open;
  if (open) begin();
  window.lectureHost = {
    start: () => (place ? { ...place } : null),
    at(scene, seconds, length) {
      if (!(scene >= 0 && scene < SCENES && length > 0)) return taken;
      const part = (time) => Math.min(PARTS - 1, Math.max(0, Math.floor((time / length) * PARTS)));
      // Reports come now and then: what lies between two of them was played, unless it is far.
      const before = last || place;
      const since = before && before.scene === scene ? before.seconds : 0;
      const playing = seconds >= since && seconds - since <= STEP;
      const from = playing ? part(since) : part(seconds);
      for (let index = from; index <= part(seconds); index += 1) played[scene][index] = 1;
      last = { scene, seconds };
      place = { scene, seconds };
      const news = !completed && played.every(seen);
      // what was not taken is told again, though not four times a second
      if (news || Date.now() - reported > (taken ? COMMIT : COMMIT / 10)) report();
      return taken;
    },
  };

  window.addEventListener("pagehide", end);
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) window.location.reload(); // back again: a new visit
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") report();
  });
})();
