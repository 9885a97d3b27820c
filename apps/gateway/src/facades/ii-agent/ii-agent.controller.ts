import { posix } from 'node:path';
import { Controller } from '@nestjs/common';
import { type IiAgentUpload, iiAgent as routes } from '@rondo/contract/api';
import { sessionCookie } from '../../auth/browser-cookie';
import { FileUploads } from '../../files/file-uploads';
import { Route, type RouteInput } from '../../http/route';
import { ApiError, refuseField } from '../../problems/api-error';
import { IiAgentSessions, toUploadPath } from './ii-agent-sessions';
import { writeShown } from './shown-events';

/** What the front end of II-Agent asks for beside its socket. */
@Controller()
export class IiAgentController {
  constructor(
    private readonly sessions: IiAgentSessions,
    private readonly uploads: FileUploads,
  ) {}

  @Route(routes.openIiAgentSocket)
  openIiAgentSocket(_: RouteInput<typeof routes.openIiAgentSocket>): never {
    throw new ApiError('malformed_request', 'Open a WebSocket here.');
  }

  @Route(routes.listIiAgentSessions)
  async listIiAgentSessions({ address }: RouteInput<typeof routes.listIiAgentSessions>) {
    const sessions = await this.sessions.list(address.accountId);
    return { sessions: sessions.map((session) => ({ ...session, device_id: address.deviceId })) };
  }

  @Route(routes.listIiAgentEvents)
  async listIiAgentEvents({ address, caller, request, response }: RouteInput<typeof routes.listIiAgentEvents>) {
    const { sessionName: name } = address;
    const events = await this.sessions.listEvents({ caller, name });
    const last = events.at(-1);
    if (last && sessionCookie.read(request.headers) !== undefined)
      response.append('Set-Cookie', writeShown(name, last.id));
    return { events };
  }

  @Route(routes.uploadIiAgentFile)
  async uploadIiAgentFile({ body: { file }, caller }: RouteInput<typeof routes.uploadIiAgentFile>) {
    const name = posix.basename(file.path);
    const { id } = await this.uploads.keep(caller, { name, content: readContent(file) });
    const path = toUploadPath(id, name);
    return { message: 'File uploaded successfully', file: { path, saved_path: `/workspace/${name}` } };
  }

  @Route(routes.getIiAgentSettings)
  async getIiAgentSettings({ address: { accountId } }: RouteInput<typeof routes.getIiAgentSettings>) {
    const names = await this.sessions.listChoices(accountId);
    const configs = names.map((model) => [model, { model, api_type: shownProvider, api_key: null }] as const);
    return { llm_configs: Object.fromEntries(configs), llm_api_key_set: true, search_api_key_set: true };
  }
}

/** The front end has a list of models for each provider that it knows, and ends with an error for another one. */
const shownProvider = 'openai';

/** Text, or a data URL, as browsers read files. */
function readContent({ content }: IiAgentUpload['file']): Buffer {
  if (!content.startsWith('data:')) return Buffer.from(content);
  const [, encoded] = /^data:[^,]*;base64,([A-Za-z0-9+/]*={0,2})$/.exec(content) ?? [];
  if (encoded === undefined) throw refuseField('file.content', 'is no base64 data URL');
  return Buffer.from(encoded, 'base64');
}
