/* The course page: one video element that shows a scene at a time, its captions, a transcript, and
   the full text in step with it. Plain JavaScript; lecture.js has the data, as window.LECTURE.

   A package around this page (SCORM, see assets/web/scorm) may set window.lectureHost before this
   script runs:

     lectureHost.start()                     asked once: null, or { scene, seconds } to begin at;
                                             scene counts the page's scenes from 0
     lectureHost.at(scene, seconds, length)  told about four times a second while a video plays,
                                             and at its end; length is that of the video. Returns
                                             false, or throws, where it cannot record that: the
                                             film goes on, and the page says so

   With a host nothing is kept in the browser, since the host remembers. For scripts and tests there
   is window.lecture: state() gives { scene: "08_attention_scores", time: 12.3 }, and
   go("08_attention_scores", 12.3) goes there without playing. */

(function () {
  "use strict";

  var data = window.LECTURE;
  var scenes = data.scenes;
  var words = data.words;
  var host = window.lectureHost || null;

  var find = document.getElementById.bind(document);
  var video = find("video");
  var screen = find("screen");
  var parts = {
    bar: find("bar"), play: find("play"), seek: find("seek"), time: find("time"),
    captions: find("captions"), speed: find("speed"), onward: find("onward"),
    sound: find("sound"), full: find("full"), dots: find("dots"), title: find("scene-title"),
    number: find("scene-number"), step: find("step-now"), transcript: find("transcript"),
    trouble: find("trouble"), follow: find("follow"), unrecorded: find("unrecorded")
  };
  var languages = { zh: "zh-CN", en: "en" };
  var still = window.matchMedia("(prefers-reduced-motion: reduce)");

  var at = -1;            // the scene on the screen
  var beat = -1;          // its sentence
  var wanted = null;      // seconds to go to once the video can
  var brought = "";       // of a video that was loaded as a whole, its address in memory

  // -- scenes ----------------------------------------------------------------------------------

  function show(index, seconds, play) {
    var scene = scenes[index];
    if (!scene) { return; }
    var fresh = index !== at;
    if (fresh) {
      at = index;
      parts.trouble.hidden = true;
      video.poster = scene.poster || "";
      forget();
      if (video.getAttribute("src") !== scene.video) { video.src = scene.video; }
      parts.seek.max = scene.seconds;
      parts.title.textContent = scene.title;
      parts.number.textContent = words.scene.replace("{number}", scene.number);
      screen.closest(".theatre").className = "theatre part-" + scene.part;
      mark(document.querySelectorAll("[data-scene]"), function (node) {
        return Number(node.dataset.scene) === index;
      });
      fillCaptions();
      fillTranscript();
      beat = -1;
    }
    video.playbackRate = Number(parts.speed.value);
    go(seconds || 0);
    if (play) { start(); }
    if (fresh) { keep(); }
  }

  function arrive() {
    if (wanted === null || video.readyState < 1) { return; }
    if (!reaches(wanted)) { bring(); return; }
    // going where it is already would take the cover away
    if (wanted !== video.currentTime) { video.currentTime = wanted; }
    wanted = null;
  }

  /* A server that cannot send parts of a file lets no browser jump in a video: there is nothing to
     seek in but the beginning. Then the whole file is brought into memory. */
  function reaches(seconds) {
    var ranges = video.seekable;
    return seconds === 0 || (ranges.length > 0 && ranges.end(ranges.length - 1) > 0);
  }

  var bringing = null;    // the scene whose video is on its way into memory

  function bring() {
    var scene = scenes[at];
    var playing = !video.paused;
    if (brought || bringing === scene) { return; }
    bringing = scene;
    fetch(scene.video).then(function (answer) {
      if (!answer.ok) { throw new Error(answer.status); }
      return answer.blob();
    }).then(function (blob) {
      if (scenes[at] !== scene) { return; }
      brought = URL.createObjectURL(blob);
      playing = playing || !video.paused;
      video.src = brought;
      video.playbackRate = Number(parts.speed.value);
      if (playing) { start(); }
    }).catch(function () {
      if (scenes[at] !== scene) { return; }
      wanted = null;
      say(words.unreachable);
    }).then(function () {
      if (bringing === scene) { bringing = null; }
    });
  }

  function forget() {
    if (brought) { URL.revokeObjectURL(brought); }
    brought = "";
    bringing = null;
  }

  function now() { return wanted === null ? video.currentTime : wanted; }

  function start() {
    var started = video.play();
    // what can go wrong is told by the error event, or it is not allowed yet
    if (started) { started.catch(function () {}); }
  }

  function toggle() { if (video.paused) { start(); } else { video.pause(); } }

  function neighbour(way) {
    if (scenes[at + way]) { show(at + way, 0, !video.paused); }
  }

  function sentence(way) {
    var beats = scenes[at].beats;
    var next = Math.max(beat, 0) + way;
    // back to the beginning of this sentence first, as players do
    if (way < 0 && beat >= 0 && now() - beats[beat].start > 1.5) { next = beat; }
    if (beats[next]) { go(beats[next].start); } else { neighbour(way); }
  }

  function go(seconds) {
    wanted = seconds;
    arrive();
    follow(seconds);
  }

  // -- what is said ----------------------------------------------------------------------------

  /* Files opened from a disk may not load track files, so the cues are added one by one. */
  var tracks = {};
  ["zh", "en"].forEach(function (language) {
    var name = language === "zh" ? "中文" : "English";
    tracks[language] = video.addTextTrack("captions", name, languages[language]);
    tracks[language].mode = "disabled";
  });

  function fillCaptions() {
    Object.keys(tracks).forEach(function (language) {
      var track = tracks[language];
      var mode = track.mode;
      track.mode = "hidden"; // a disabled track gives no access to its cues
      Array.from(track.cues || []).forEach(function (cue) { track.removeCue(cue); });
      (scenes[at].captions[language] || []).forEach(function (cue) {
        var text = cue.text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
        track.addCue(new VTTCue(cue.start, cue.end, text));
      });
      track.mode = mode;
    });
  }

  function chooseCaptions() {
    var chosen = parts.captions.value;
    Array.prototype.forEach.call(video.textTracks, function (track) { track.mode = "disabled"; });
    if (tracks[chosen]) { tracks[chosen].mode = "showing"; }
    fillTranscript();
    keep();
  }

  function textOf(said, language) { return said.text[language] || said.text[data.language] || ""; }

  function fillTranscript() {
    var language = parts.captions.value || data.language;
    parts.transcript.textContent = "";
    scenes[at].beats.forEach(function (said, index) {
      var line = document.createElement("li");
      var button = document.createElement("button");
      button.type = "button";
      button.lang = languages[said.text[language] ? language : data.language];
      button.textContent = textOf(said, language);
      button.dataset.beat = index;
      line.appendChild(button);
      parts.transcript.appendChild(line);
    });
    markSentence();
  }

  function markSentence() {
    mark(parts.transcript.querySelectorAll("button"), function (node) {
      return Number(node.dataset.beat) === beat;
    });
    var current = parts.transcript.querySelector("[aria-current]");
    if (!current) { return; }
    var box = parts.transcript;
    var top = current.offsetTop - box.offsetTop - box.clientHeight / 3;
    box.scrollTo({ top: top, behavior: still.matches ? "auto" : "smooth" });
  }

  function mark(nodes, isCurrent) {
    Array.prototype.forEach.call(nodes, function (node) {
      if (isCurrent(node)) { node.setAttribute("aria-current", "true"); }
      else { node.removeAttribute("aria-current"); }
    });
  }

  // -- in step with the video ------------------------------------------------------------------

  function follow(seconds) {
    var beats = scenes[at].beats;
    var found = -1;
    for (var n = 0; n < beats.length; n += 1) {
      if (beats[n].start <= seconds + 0.02) { found = n; }
    }
    parts.seek.value = seconds;
    parts.time.textContent = clock(seconds) + " / " + clock(scenes[at].seconds);
    parts.seek.setAttribute("aria-valuetext", parts.time.textContent);
    if (found !== beat) {
      beat = found;
      markSentence();
      markStep();
    }
  }

  function clock(seconds) {
    var whole = Math.floor(seconds);
    return Math.floor(whole / 60) + ":" + ("0" + (whole % 60)).slice(-2);
  }

  function markStep() {
    var said = scenes[at].beats[Math.max(beat, 0)];
    if (!said) { return; }
    var range = said.last > said.step;
    parts.step.textContent = (range ? words.steps : words.one_step)
      .replace("{first}", said.step).replace("{last}", said.last);
    parts.step.href = "#step-" + said.step;
    Array.prototype.forEach.call(document.querySelectorAll(".step"), function (node) {
      var number = Number(node.dataset.step);
      node.classList.toggle("told", number >= said.step && number <= said.last);
    });
    if (parts.follow.checked && !video.paused) {
      find("step-" + said.step).scrollIntoView({ behavior: still.matches ? "auto" : "smooth" });
    }
  }

  /* Where a step is told: in the scene under whose heading it stands, if it is told there. */
  function placeOf(step, slug) {
    var best = null;
    scenes.forEach(function (scene, index) {
      var own = scene.slug === slug;
      if (best && !own) { return; }
      for (var n = 0; n < scene.beats.length; n += 1) {
        var said = scene.beats[n];
        if (said.step <= step && step <= said.last) {
          best = { scene: index, time: said.start };
          return;
        }
      }
    });
    return best;
  }

  function addWatchButtons() {
    Array.prototype.forEach.call(document.querySelectorAll(".step"), function (node) {
      var step = Number(node.dataset.step);
      var place = placeOf(step, node.closest(".scene").dataset.slug);
      if (!place) { return; }
      var button = document.createElement("button");
      button.type = "button";
      button.className = "watch";
      button.setAttribute("aria-label", words.watch + " (" + step + ")");
      button.title = words.watch;
      button.addEventListener("click", function () { show(place.scene, place.time, true); });
      node.querySelector("h3").appendChild(button);
    });
  }

  /* While the full text is being read, the video goes on small in a corner. */
  var mini = document.createElement("button");
  var away = false;
  var putAway = false;

  function addMini() {
    mini.type = "button";
    mini.className = "close";
    mini.setAttribute("aria-label", words.close_mini);
    mini.addEventListener("click", function () {
      putAway = true;
      video.pause();
      placeScreen();
    });
    screen.appendChild(mini);
    if (!window.IntersectionObserver) { return; }
    new IntersectionObserver(function (entries) {
      away = !entries[entries.length - 1].isIntersecting;
      if (!away) { putAway = false; }
      placeScreen();
    }, { threshold: 0.15 }).observe(screen.parentNode);
  }

  /* Small from when it plays out of sight; then until it is in sight again, or put away. */
  function placeScreen() {
    var small = screen.classList.contains("mini");
    screen.classList.toggle("mini", away && !putAway && (small || !video.paused));
  }

  // -- what is remembered ----------------------------------------------------------------------

  var shelf = "transformer-lecture " + data.name;

  function state() {
    return { scene: scenes[at].slug, time: Math.round(now() * 10) / 10 };
  }

  function indexOf(slug) {
    return scenes.findIndex(function (scene) { return scene.slug === slug; });
  }

  function keep() {
    if (host || at < 0) { return; }
    try {
      localStorage.setItem(shelf, JSON.stringify({
        place: state(), captions: parts.captions.value, speed: parts.speed.value,
        onward: parts.onward.checked, follow: parts.follow.checked
      }));
    } catch (error) { /* the browser keeps nothing: so be it */ }
  }

  function kept() {
    try {
      return (!host && JSON.parse(localStorage.getItem(shelf))) || {};
    } catch (error) { return {}; }
  }

  /* Whatever a host does, the film goes on. */
  function tell(seconds) {
    if (!host) { return; }
    var taken = false;
    try { taken = host.at(at, seconds, scenes[at].seconds) !== false; } catch (error) { taken = false; }
    parts.unrecorded.hidden = taken;
  }

  function hostStart() {
    try { return host && host.start(); } catch (error) {
      parts.unrecorded.hidden = false;
      return null;
    }
  }

  // -- what people do --------------------------------------------------------------------------

  function on(node, what, act) { node.addEventListener(what, act); }

  on(video, "loadedmetadata", arrive);
  on(video, "timeupdate", function () {
    if (wanted !== null) { return; }
    follow(video.currentTime);
    if (!video.paused) { tell(video.currentTime); }
  });
  on(video, "play", function () { putAway = false; told(); placeScreen(); });
  on(video, "pause", function () { told(); keep(); });
  on(video, "ended", function () {
    var last = scenes[at].beats.length - 1;
    tell(scenes[at].seconds);
    if (parts.onward.checked && scenes[at + 1]) { show(at + 1, 0, true); }
    // every scene fades out: the picture before that says more than a dark one
    else if (last >= 0) { go(Math.max(0, scenes[at].beats[last].end - 0.1)); }
  });
  on(video, "error", function () { if (!bringing) { trouble(); } });
  on(video, "click", toggle);

  function trouble() { say(words.trouble); }

  function say(text) {
    parts.trouble.textContent = text.replace("{file}", function () { return scenes[at].video; });
    parts.trouble.hidden = false;
  }

  function told() {
    var name = video.paused ? words.play : words.pause;
    parts.play.setAttribute("aria-label", name);
    parts.play.title = name;
    parts.play.classList.toggle("playing", !video.paused);
  }

  on(parts.play, "click", toggle);
  on(find("previous"), "click", function () { neighbour(-1); });
  on(find("next"), "click", function () { neighbour(1); });
  on(parts.seek, "input", function () { go(Number(parts.seek.value)); });
  on(parts.seek, "keydown", function (event) {
    var way = { ArrowLeft: -5, ArrowDown: -5, ArrowRight: 5, ArrowUp: 5 }[event.key];
    if (!way || event.ctrlKey || event.altKey || event.metaKey) { return; }
    event.preventDefault();
    go(Math.min(Math.max(now() + way, 0), scenes[at].seconds));
  });
  on(parts.captions, "change", chooseCaptions);
  on(parts.speed, "change", function () {
    video.playbackRate = Number(parts.speed.value);
    keep();
  });
  on(parts.onward, "change", keep);
  on(parts.follow, "change", function () { keep(); markStep(); });
  on(parts.sound, "click", sound);
  on(parts.full, "click", fullscreen);
  on(parts.transcript, "click", function (event) {
    var button = event.target.closest("button");
    if (button) { go(scenes[at].beats[Number(button.dataset.beat)].start); }
  });
  Array.prototype.forEach.call(document.querySelectorAll("[data-scene]"), function (node) {
    on(node, "click", function (event) {
      event.preventDefault();
      show(Number(node.dataset.scene), 0, node.tagName === "A" || !video.paused);
      if (node.tagName === "A") { find("player").scrollIntoView(); }
    });
  });
  on(window, "pagehide", keep);
  on(window, "hashchange", function () {
    var place = linked();
    if (!place) { return; }
    show(place.scene, place.seconds, !video.paused);
    find("player").scrollIntoView();
  });

  /* #scene-12, or #scene-12-3 for its third sentence. */
  function linked() {
    var named = /^#scene-(\d+)(?:-(\d+))?$/.exec(location.hash);
    var index = named ? scenes.findIndex(function (s) { return s.number === Number(named[1]); }) : -1;
    if (index < 0) { return null; }
    var said = scenes[index].beats[Number(named[2] || 1) - 1];
    return { scene: index, seconds: named[2] && said ? said.start : 0 };
  }

  function sound() {
    video.muted = !video.muted;
    parts.sound.setAttribute("aria-pressed", String(video.muted));
  }

  function fullscreen() {
    if (document.fullscreenElement) { document.exitFullscreen(); }
    else if (document.fullscreenEnabled) { screen.requestFullscreen().catch(function () {}); }
    else if (video.webkitEnterFullscreen) { video.webkitEnterFullscreen(); }
  }

  function choose(select, way) {
    var index = select.selectedIndex + way;
    select.selectedIndex = select === parts.captions
      ? (index + select.options.length) % select.options.length
      : Math.min(Math.max(index, 0), select.options.length - 1);
    select.dispatchEvent(new Event("change"));
  }

  var keys = {
    " ": toggle,
    ArrowLeft: function (event) { (event.shiftKey ? sentence : neighbour)(-1); },
    ArrowRight: function (event) { (event.shiftKey ? sentence : neighbour)(1); },
    c: function () { choose(parts.captions, 1); },
    "<": function () { choose(parts.speed, -1); },
    ">": function () { choose(parts.speed, 1); },
    m: sound,
    f: fullscreen
  };

  on(document, "keydown", function (event) {
    var target = event.target;
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) { return; }
    if (target.closest("select, textarea, input:not([type=checkbox])")) { return; }
    if (event.key === " " && target.closest("button, a, input, summary")) { return; }
    var act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act) {
      event.preventDefault();
      act(event);
    }
  });

  // -- the beginning ---------------------------------------------------------------------------

  window.lecture = {
    state: state,
    go: function (slug, seconds) { show(indexOf(slug), seconds || 0, false); }
  };

  video.removeAttribute("controls");
  parts.bar.hidden = false;
  parts.dots.hidden = false;
  parts.full.hidden = !document.fullscreenEnabled && !video.webkitEnterFullscreen;
  addWatchButtons();
  addMini();
  var before = kept();
  if (before.captions in tracks) { parts.captions.value = before.captions; }
  if (before.speed) { parts.speed.value = before.speed; }
  if (!parts.speed.value) { parts.speed.value = "1"; }
  if (before.onward === false) { parts.onward.checked = false; }
  parts.follow.checked = before.follow === true;
  told();
  var place = before.place || {};
  var begin = linked() || hostStart() || { scene: indexOf(place.scene), seconds: place.time };
  if (scenes[begin.scene]) { show(begin.scene, begin.seconds, false); } else { show(0, 0, false); }
  chooseCaptions();
  if (video.error) { trouble(); } // it may have failed before this script was there
})();
