// The page's entry: every part finds its own elements and does nothing where there are none.
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

// Whoever acts on the page from outside (a test, an extension) can see that keys and clicks are listened to.
document.documentElement.classList.add("is-ready");
