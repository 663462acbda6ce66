// The page's entry: every part finds its own elements and does nothing where there are none.
import "./ui.js";
import "./outline.js";
import "./graph.js";
import "./timeline.js";
import "./detail.js";
import "./turn.js";
import "./compare.js";
import "./live.js";
import "./command_completion.js";
import "./composer.js";
import "./login.js";
import "./filter_completion.js";
import "./palette.js";
import "./reading_keys.js";
import "./reading_place.js";
import "./upload.js";
import "./page.js";

// Whoever acts on the page from outside (a test, an extension) can see that keys and clicks are listened to.
document.documentElement.classList.add("is-ready");
