/** The specs of a folder as few files, each with one deployment. A pattern, as in `npm test -- forks`, runs one of them alone. */
import './ordinary/dialects.e2e-spec';
import './ordinary/forks.e2e-spec';
import './ordinary/tool-choice.e2e-spec';
import './ordinary/sandbox-files.e2e-spec';
import './ordinary/browser.e2e-spec';
import './ordinary/operated-browser.e2e-spec';
import './ordinary/uploads.e2e-spec';
import './ordinary/resolve.e2e-spec';
import './ordinary/agents.e2e-spec';
import './ordinary/stop.e2e-spec';
import './ordinary/slow-readers.e2e-spec';
