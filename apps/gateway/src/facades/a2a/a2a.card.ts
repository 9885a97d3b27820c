import type { Request } from 'express';

/** Where users reach the gateway, if it is not the host of their requests. */
export class A2aCards {
  constructor(private readonly publicUrl: string | undefined) {}

  /** What a client has to know before it has a key: it says nothing of the agents that accounts have. */
  describe(request: Pick<Request, 'protocol' | 'get'>, agentName: string | undefined): object {
    const base = this.publicUrl ?? `${request.protocol}://${request.get('host') ?? 'localhost'}`;
    const path = agentName === undefined ? '' : `/${encodeURIComponent(agentName)}`;
    const name = agentName ?? 'Rondo';
    const description =
      agentName === undefined
        ? 'Runs agents: each task is a durable run.'
        : `The agent or the model ${agentName} of the account whose key is sent.`;
    return {
      name,
      description,
      version: '1',
      supportedInterfaces: [
        { url: `${base.replace(/\/+$/, '')}/a2a${path}`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      ],
      capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
      securitySchemes: { key: { httpAuthSecurityScheme: { scheme: 'Bearer', description: 'An API key of Rondo.' } } },
      securityRequirements: [{ schemes: { key: { list: [] } } }],
      defaultInputModes: ['text/plain', 'application/json', 'image/png', 'image/jpeg', 'image/webp'],
      defaultOutputModes: ['text/plain', 'application/json'],
      skills: [{ id: 'run', name, description, tags: ['agent'] }],
    };
  }
}
