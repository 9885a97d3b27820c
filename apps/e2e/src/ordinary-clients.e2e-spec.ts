/** The specs of a folder as few files, each with one deployment. A pattern, as in `npm test -- forks`, runs one of them alone. */
import './ordinary/cli.e2e-spec';
import './ordinary/cli-every-command.e2e-spec';
import './ordinary/client.e2e-spec';
import './ordinary/create-rondo-app.e2e-spec';
import './ordinary/evaluation-guide.e2e-spec';
import './ordinary/projects.e2e-spec';
