// The entry point of every page. Each module looks for its own elements and does nothing if there are none.
import "./shell/ui.js";
import "./turns/outline.js";
import "./turns/graph.js";
import "./turns/timeline.js";
import "./turns/detail.js";
import "./turns/turn.js";
import "./turns/compare.js";
import "./shell/live.js";
import "./sessions/command_completion.js";
import "./sessions/composer.js";
import "./shell/login.js";
import "./shell/filter_completion.js";
import "./shell/palette.js";
import "./shell/reading_keys.js";
import "./shell/reading_place.js";
import "./knowledge/upload.js";
import "./shell/page.js";

// Tells tests and extensions that keys and clicks are handled from now on.
document.documentElement.classList.add("is-ready");
