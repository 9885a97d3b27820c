import type {
  Answer,
  Balance,
  BrowserAction,
  BrowserScreen,
  CommandEvent,
  DiscoveredMcpServer,
  ForgottenMcpTools,
  GivenMcpPrompt,
  InboxPage,
  LlmMessageList,
  MemoryMatches,
  McpDiscoveryRequest,
  McpPrompts,
  SandboxCommand,
  Site,
  Skill,
  SkillFiles,
  UploadedFile,
  WrittenFile,
} from './generated/api.ts';
import * as routes from './generated/routes.ts';
import { type ListQuery, type Options, Resource, toRequest } from './resource.ts';
import { dataOfEvents } from './server-sent-events.ts';
import { cutOff } from './transport.ts';

export type ListAgents = ListQuery<routes.ListAgentsQuery>;
export type ListMessages = ListQuery<routes.ListMessagesQuery>;
export type ListThreads = ListQuery<routes.ListThreadsQuery>;
export type DeliveryQuery = ListQuery<routes.ListWebhookDeliveriesQuery>;
export type SiteQuery = routes.ListSitesQuery;

/** A run that waits for a person. */
export type InboxItem = InboxPage['data'][number];

/** All accounts of a deployment, for the account that operates it. */
export class Accounts extends Resource {
  /** The operator's own, then the newest first. */
  readonly list = this.pages(routes.listAccounts);
  readonly balance = this.send(routes.getAccountBalance);
  /** A negative amount takes credit back. A request that is sent again by itself gives it once. */
  readonly giveCredit = this.send(routes.giveCredit);
  /** Refuses the account's keys at once, and removes everything that it has. */
  readonly remove = this.send(routes.removeAccount);

  /** The only answer that has the new account's key. */
  create(name: string) {
    return this.send(routes.createAccount)({ name });
  }

  /** The names of the tiers; none if the deployment limits nothing. */
  async tiers(options: Options = {}): Promise<readonly string[]> {
    return (await this.send(routes.listAccounts)({ limit: 1 }, options)).tiers;
  }

  /** Applies to new runs at once, and to active ones within seconds. Without a price factor, the account has that of the tier. */
  setTier(id: string, tier: string, price_factor?: number): Promise<Balance> {
    return this.send(routes.setAccountTier)(id, price_factor === undefined ? { tier } : { tier, price_factor });
  }
}

/** The stored agents of an account, and their versions. */
export class Agents extends Resource {
  readonly create = this.send(routes.createAgent);
  readonly get = this.send(routes.getAgent);
  /** Newest first, unless sorted otherwise. */
  readonly list = this.pages(routes.listAgents);
  /** Another definition becomes a new version. Refused if `if_version` is no longer the active one. */
  readonly update = this.send(routes.updateAgent);
  /** Creates or changes the agent of this name. The same definition a second time changes nothing. */
  readonly apply = this.send(routes.applyAgent);
  readonly delete = this.send(routes.deleteAgent);
  /** Newest first. */
  readonly versions = this.pages(routes.listAgentVersions);
  readonly compare = this.send(routes.compareAgentVersions);
  /** What the next run of a thread begins with, and why. */
  readonly ofThread = this.send(routes.getThreadAgent);

  /** The note is all of a version that can change. Null removes it. */
  noteVersion(id: string, version: number, note: string | null) {
    return this.send(routes.updateAgentVersion)(id, version, { note });
  }

  /** New runs begin with this version from then on. */
  activate(id: string, version: number, options: Options = {}) {
    return this.send(routes.activateAgentVersion)(id, version, {}, options);
  }
}

/** The API keys of an account, for its admins. */
export class ApiKeys extends Resource {
  /** The only answer that has the secret. It is never sent a second time by itself: that would create another key. */
  readonly create = this.send(routes.createApiKey);
  /** Newest first. */
  readonly list = this.pages(routes.listApiKeys);
  readonly revoke = this.send(routes.revokeApiKey);
}

/** Tokens with which browsers reach the threads of one person, or one thread. */
export class ClientTokens extends Resource {
  /** The only answer that has the token. It is never sent a second time by itself: that would create another one. */
  readonly create = this.send(routes.createClientToken);
  /** Those that have not expired, newest first. */
  readonly list = this.pages(routes.listClientTokens);
  readonly revoke = this.send(routes.revokeClientToken);
}

/** The people for whom an account runs threads. */
export class Users extends Resource {
  /** How much is of a person. */
  readonly get = this.send(routes.getUser);
  /** Erases all that is of a person, and says how much it was. Repeat it while it answers with active runs. */
  readonly remove = this.send(routes.eraseUser);
}

/** What runs of an account wait for a person to decide. */
export class Approvals extends Resource {
  /** The open ones, oldest first. */
  readonly list = this.pages(routes.listApprovals);
  readonly get = this.send(routes.getApproval);
  /** Refused if another decision came first, or if the call has other arguments than those with this hash. */
  readonly decide = this.send(routes.decideApproval);
  /** All runs that wait for a person: for an answer, a decision about calls, or a ruling on calls with an unknown outcome. */
  readonly inbox = this.pages(routes.listInbox);
}

/** Uploads of an account, which runs get into their workspaces. */
export class Files extends Resource {
  /** Newest first. */
  readonly list = this.pages(routes.listUploadedFiles);
  readonly get = this.send(routes.getUploadedFile);
  /** The response has the content as a stream, `arrayBuffer()` and `text()`. */
  readonly content = this.send(routes.readUploadedFile);
  /** What is in a workspace already stays there. */
  readonly delete = this.send(routes.deleteUploadedFile);

  /** A browser's `File` has a name of its own. However often it is sent until it is answered, it is stored once. */
  upload(content: Blob, { name, signal }: Options & { readonly name?: string } = {}): Promise<UploadedFile> {
    const form = new FormData();
    if (name === undefined) form.set('file', content);
    else form.set('file', content, name);
    return this.transport.json({ ...routes.uploadFile, content: form, signal });
  }
}

/** Servers of the Model Context Protocol, and what the account's runs have seen of them. */
export class Mcp extends Resource {
  /** Newest first. `changed`: only those that await a confirmation. */
  readonly tools = this.pages(routes.listMcpTools);
  /** The next run that sees the tool accepts what its server says then. */
  readonly forget = this.send(routes.forgetMcpTool);
  /** Begins to connect a server that wants a token of OAuth: a person opens `authorization_url`. */
  readonly connect = this.send(routes.beginMcpConnection);
  readonly connections = this.pages(routes.listMcpConnections);
  readonly connection = this.send(routes.getMcpConnection);
  /** Its tokens are deleted. The next request to the server carries none. */
  readonly disconnect = this.send(routes.deleteMcpConnection);

  /** Which tools a server has, before a run or an agent names it. One that cannot be used is an answer, too. */
  discover(server: McpDiscoveryRequest['server'], options: Options = {}): Promise<DiscoveredMcpServer> {
    return this.send(routes.discoverMcpServer)({ server }, options);
  }

  /** Texts that a server offers to begin a run with, by the arguments that they take. */
  prompts(server: McpDiscoveryRequest['server'], options: Options = {}): Promise<McpPrompts> {
    return this.send(routes.listMcpPrompts)({ server }, options);
  }

  /** One of them. `input` can be that of a run, once a person has read it: it is the word of the server. */
  prompt(
    server: McpDiscoveryRequest['server'],
    prompt: { readonly name: string; readonly arguments?: Readonly<Record<string, string>> },
    options: Options = {},
  ): Promise<GivenMcpPrompt> {
    return this.send(routes.getMcpPrompt)({ server, ...prompt }, options);
  }

  /** Accepts a changed tool. Refused if its server has changed it again since its definition had this fingerprint. */
  confirm(id: string, fingerprint: string, options: Options = {}) {
    return this.send(routes.confirmMcpTool)(id, { fingerprint }, options);
  }

  /** The same for all tools of a server, by the name that runs give it. */
  forgetServer(server: string, options: Options = {}): Promise<ForgottenMcpTools> {
    return this.send(routes.forgetMcpServer)({ server }, options);
  }
}

/** The projects of an account. */
export class Projects extends Resource {
  readonly create = this.send(routes.createProject);
  readonly get = this.send(routes.getProject);
  /** Newest first. */
  readonly list = this.pages(routes.listProjects);
  readonly update = this.send(routes.updateProject);
  /** With its threads, runs and workspaces. */
  readonly delete = this.send(routes.deleteProject);
}

/** Sandboxes and their files. Each thread has one at most. */
export class Sandboxes extends Resource {
  /** Newest first, with their states and what they cost. */
  readonly list = this.pages(routes.listSandboxes);
  readonly get = this.send(routes.getSandbox);
  /** The sandbox of a thread as it is; rejects with `sandbox_not_found` if there is none. */
  readonly find = this.send(routes.getThreadSandbox);
  /** The sandbox of a thread, awake; it is created if there is none. */
  readonly ofThread = this.send(routes.ensureSandbox);
  readonly start = this.send(routes.startSandbox);
  /** Kills its processes; the files stay. */
  readonly stop = this.send(routes.stopSandbox);
  readonly delete = this.send(routes.deleteSandbox);
  /** What its browser shows now, with a JPEG in Base64; rejects with `browser_not_running` if there is none. */
  readonly browser = this.send(routes.getBrowser);
  readonly files = this.send(routes.listFiles);
  readonly deleteFile = this.send(routes.deleteFile);

  /** Clicks, types or goes somewhere; answers with what is shown then. Not sent a second time. */
  operateBrowser(id: string, action: BrowserAction, options: Options = {}): Promise<BrowserScreen> {
    return this.send(routes.operateBrowser)(id, { action }, options);
  }

  /** Runs a command, and yields what it prints as it comes, until it has ended. Leaving the loop before kills it. Not sent a second time. */
  async *exec(id: string, command: SandboxCommand, options: Options = {}): AsyncGenerator<CommandEvent, void> {
    const { body } = await this.send(routes.runCommand)(id, command, options);
    let failure: unknown;
    try {
      if (body)
        for await (const events of dataOfEvents(body, () => undefined)) {
          for (const data of events) {
            const event = JSON.parse(data) as CommandEvent; // as the gateway's documents say
            yield event;
            if (event.type === 'command.ended') return;
          }
        }
    } catch (error) {
      failure = error;
    }
    throw cutOff(failure, options.signal);
  }

  /** The response has the content as a stream, `arrayBuffer()` and `text()`. */
  readFile(id: string, path: string, options: Options = {}): Promise<Response> {
    return this.send(routes.readFile)(id, { path }, options);
  }

  /** Replaces the file once all of its content has arrived. Content that is a stream is not sent a second time. */
  writeFile(id: string, { path, content }: NewFile, options: Options = {}): Promise<WrittenFile> {
    return this.transport.json({
      ...toRequest(routes.writeFile, [id, { path }, options]),
      content,
      headers: { 'Content-Type': 'application/octet-stream' },
      repeatable: !(content instanceof ReadableStream),
    });
  }
}

export interface NewFile {
  /** In the workspace: relative to it, or absolute. */
  readonly path: string;
  readonly content: NonNullable<RequestInit['body']>;
}

/** What starts runs at the times of a cron expression. */
export class Schedules extends Resource {
  readonly create = this.send(routes.createSchedule);
  readonly get = this.send(routes.getSchedule);
  /** Newest first. */
  readonly list = this.pages(routes.listSchedules);
  /** The next due times of all that are not paused, in order. */
  readonly upcoming = this.send(routes.listUpcomingRuns);
  /** `run` is replaced as a whole. */
  readonly update = this.send(routes.updateSchedule);
  readonly delete = this.send(routes.deleteSchedule);
  /** Due times of a pause are not made up for. */
  readonly pause = this.send(routes.pauseSchedule);
  readonly resume = this.send(routes.resumeSchedule);
  /** Starts a run at once, also of a paused schedule. */
  readonly run = this.send(routes.runSchedule);
  /** The outcomes of its due times, newest first. */
  readonly executions = this.pages(routes.listScheduleExecutions);
  /** The next due times of an expression that is not stored. */
  readonly dueTimes = this.send(routes.previewDueTimes);
}

/** How a browser signs in. A page then uses a client without a key: its cookie, which no script can read, says who it is. */
export class Sessions extends Resource {
  /** Who this client's requests are made by. */
  readonly current = this.send(routes.getSession);
  /** Those of the account that are not over, newest first. For its admins. */
  readonly list = this.pages(routes.listSessions);
  /** Ends a session of the account; its browser is signed out. For its admins. */
  readonly revoke = this.send(routes.endSession);
  /** Signs out. */
  readonly end = this.send(routes.deleteSession);

  /** Signs the browser in that sends this, with the client's key. */
  begin(options: Options = {}) {
    return this.send(routes.createSession)({}, options);
  }

  /** A link that signs one browser in, once. */
  createLink(options: Options = {}) {
    return this.send(routes.createSessionLink)({}, options);
  }
}

/** The static sites that agents have published. */
export class Sites extends Resource {
  /** One page, by thread and name. `complete` is false where sites are missing because an executor does not answer. */
  readonly list = this.send(routes.listSites);

  get({ thread_id, name }: Pick<Site, 'thread_id' | 'name'>, options: Options = {}): Promise<Site> {
    return this.send(routes.getSite)(thread_id, name, options);
  }

  /** Takes a site down; its files in the workspace stay. */
  delete({ thread_id, name }: Pick<Site, 'thread_id' | 'name'>, options: Options = {}): Promise<void> {
    return this.send(routes.deleteSite)(thread_id, name, options);
  }
}

/** The conversations of an account. */
export class Threads extends Resource {
  readonly create = this.send(routes.createThread);
  readonly get = this.send(routes.getThread);
  /** Newest first. */
  readonly list = this.pages(routes.listThreads);
  /** Shares it, or ends its sharing. */
  readonly update = this.send(routes.updateThread);
  readonly delete = this.send(routes.deleteThread);
  /** In the order of the conversation. */
  readonly messages = this.pages(routes.listMessages);

  /** What the model of the thread's next run would receive, after its system prompt and before its input. */
  async llmMessages(id: string, options: Options = {}): Promise<LlmMessageList['data']> {
    return (await this.send(routes.listLlmMessages)(id, options)).data;
  }

  /** The next run of the thread reads it; an active run reads it before its next iteration. */
  addMessage(id: string, content: Answer['content'], options: Options = {}) {
    return this.send(routes.createMessage)(id, { content }, options);
  }
}

/** What sandboxes and MCP servers may use and not read. No answer has a value. */
export class Secrets extends Resource {
  /** It is never sent a second time by itself: the second would be refused. */
  readonly create = this.send(routes.createSecret);
  readonly get = this.send(routes.getSecret);
  /** Newest first. */
  readonly list = this.pages(routes.listSecrets);
  /** It holds for the next request that would carry the secret. */
  readonly update = this.send(routes.updateSecret);
  /** Revokes it. */
  readonly delete = this.send(routes.deleteSecret);
  /** What secrets were sent to, or refused to, newest first. */
  readonly uses = this.pages(routes.listSecretUses);
}

/** What agents remember: entries like small files, with their versions. */
export class MemoryStores extends Resource {
  readonly create = this.send(routes.createMemoryStore);
  readonly get = this.send(routes.getMemoryStore);
  /** Newest first. */
  readonly list = this.pages(routes.listMemoryStores);
  /** With its entries. */
  readonly delete = this.send(routes.deleteMemoryStore);
  /** By their paths. */
  readonly entries = this.pages(routes.listMemoryEntries);
  readonly read = this.send(routes.readMemoryEntry);
  /** Newest first, each with who wrote it. */
  readonly versions = this.pages(routes.listMemoryVersions);
  /** Refused if `if_version` is not the version that is there, which is 0 for none. */
  readonly write = this.send(routes.writeMemoryEntry);
  /** With all of its versions. */
  readonly forget = this.send(routes.deleteMemoryEntry);

  /** Entries that have the words, the best first. */
  async search(id: string, query: routes.SearchMemoryQuery, options: Options = {}): Promise<MemoryMatches['data']> {
    return (await this.send(routes.searchMemory)(id, query, options)).data;
  }
}

/** What programs that evaluate agents have found. */
export class Evaluations extends Resource {
  /** Replaces what has this name. */
  readonly store = this.send(routes.storeEvaluation);
  /** Newest first, without the results of tasks. */
  readonly list = this.pages(routes.listEvaluations);
  readonly get = this.send(routes.getEvaluation);
  readonly delete = this.send(routes.deleteEvaluation);
}

/** Folders of instructions and programs that agents and runs name. */
export class Skills extends Resource {
  readonly get = this.send(routes.getSkill);
  /** The newest skills first. */
  readonly list = this.pages(routes.listSkills);
  /** Refused while a run that is not finished names it. */
  readonly delete = this.send(routes.deleteSkill);
  /** Newest first. */
  readonly versions = this.pages(routes.listSkillVersions);
  readonly version = this.send(routes.getSkillVersion);

  /** By their paths. */
  async files(id: string, version: number, options: Options = {}): Promise<SkillFiles['data']> {
    return (await this.send(routes.listSkillFiles)(id, version, options)).data;
  }

  /** The response has the content as a stream, `arrayBuffer()` and `text()`. */
  readonly file = this.send(routes.readSkillFile);
  /** The response is a zip archive. */
  readonly content = this.send(routes.readSkillArchive);

  /**
   * Stores a skill, or a new version of the one that its SKILL.md names: its files by their paths, or one zip archive. The same
   * files as before make no other version, so it may be sent again.
   */
  create(files: Readonly<Record<string, Blob>>, { executable = [], signal }: NewSkillOptions = {}): Promise<Skill> {
    const form = new FormData();
    for (const [path, content] of Object.entries(files)) form.append('files', content, path);
    if (executable.length > 0) form.set('executable', JSON.stringify(executable));
    return this.transport.json({ ...routes.createSkill, content: form, signal });
  }
}

export interface NewSkillOptions extends Options {
  /** The paths of the files that are programs. An archive has modes itself. */
  readonly executable?: readonly string[];
}

/** What starts a run for each signed request that another system sends. */
export class WebhookTriggers extends Resource {
  /** The only answer that has the secret. It is never sent a second time by itself. */
  readonly create = this.send(routes.createTrigger);
  readonly get = this.send(routes.getTrigger);
  /** Newest first. */
  readonly list = this.pages(routes.listTriggers);
  /** `run` is replaced as a whole. */
  readonly update = this.send(routes.updateTrigger);
  readonly delete = this.send(routes.deleteTrigger);
  /** A new secret, shown this once. The former one is accepted for a while. */
  readonly rotateSecret = this.send(routes.rotateTriggerSecret);
  /** The outcomes of its webhooks, newest first. */
  readonly executions = this.pages(routes.listTriggerExecutions);
}

/** Where events of runs are sent. What arrives there, `verifyWebhook` checks. */
export class WebhookEndpoints extends Resource {
  /** With the secret, which no later answer has. It is never sent a second time by itself: that would create another one. */
  readonly create = this.send(routes.createWebhookEndpoint);
  /** Newest first. */
  readonly list = this.pages(routes.listWebhookEndpoints);
  readonly get = this.send(routes.getWebhookEndpoint);
  readonly update = this.send(routes.updateWebhookEndpoint);
  readonly delete = this.send(routes.deleteWebhookEndpoint);
  readonly rotateSecret = this.send(routes.rotateWebhookSecret);
  /** Sends the event `webhook.test`. */
  readonly test = this.send(routes.testWebhookEndpoint);
  /** Newest first. `status: 'dead'` lists what was given up. */
  readonly deliveries = this.pages(routes.listWebhookDeliveries);
  readonly delivery = this.send(routes.getWebhookDelivery);
  /** Under the same `webhook-id`, delivered or not. */
  readonly redeliver = this.send(routes.redeliverWebhook);
}
