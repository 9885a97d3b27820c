/** The specs of a folder as few files, each with one deployment. A pattern, as in `npm test -- forks`, runs one of them alone. */
import './ordinary/console-access.e2e-spec';
import './ordinary/console-agents.e2e-spec';
import './ordinary/console-chat.e2e-spec';
import './ordinary/console-endings.e2e-spec';
import './ordinary/console-evaluations.e2e-spec';
import './ordinary/console-memory.e2e-spec';
import './ordinary/console-new-run.e2e-spec';
import './ordinary/console-notifications.e2e-spec';
import './ordinary/console-operated-browser.e2e-spec';
import './ordinary/console-run-list.e2e-spec';
import './ordinary/console-sandboxes.e2e-spec';
import './ordinary/console-session.e2e-spec';
import './ordinary/console-skills.e2e-spec';
import './ordinary/console-threads.e2e-spec';
import './ordinary/console-triggers.e2e-spec';
import './ordinary/console-users.e2e-spec';
