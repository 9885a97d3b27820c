import { agentDefinition } from './agent';
import { mcpServerRequest, mcpServerRequests } from './mcp-server';

const tickets = { name: 'tickets', transport: 'streamable_http', url: 'https://tickets.example/mcp' };
const notes = { name: 'notes', transport: 'stdio', command: 'notes' };
const accepts = (server: object) => mcpServerRequest.safeParse(server).success;

describe('mcpServerRequest', () => {
  it('accepts servers of every transport', () => {
    expect(accepts({ ...tickets, headers: { 'X-Key': 'a b' }, tools: ['search'], trust_annotations: true })).toBe(true);
    expect(accepts({ ...tickets, transport: 'sse' })).toBe(true);
    expect(accepts(notes)).toBe(true);
  });

  it('refuses two servers of one name, and an eleventh', () => {
    const eleven = Array.from({ length: 11 }, (_, index) => ({ ...notes, name: `n${index}` }));
    expect(mcpServerRequests.safeParse([tickets, { ...notes, name: 'tickets' }]).success).toBe(false);
    expect(mcpServerRequests.safeParse(eleven).success).toBe(false);
    expect(mcpServerRequests.safeParse(eleven.slice(1)).success).toBe(true);
  });

  it.each([
    ['a name with two underscores', { ...tickets, name: 'a__b' }],
    ['a name that ends with one', { ...tickets, name: 'a_' }],
    ['a file', { ...tickets, url: 'file:///etc/passwd' }],
    ['credentials in the URL', { ...tickets, url: 'https://user:password@tickets.example/' }],
    ['a header of the connection', { ...tickets, headers: { Host: 'evil.example' } }],
    ['a header of the protocol', { ...tickets, headers: { 'Mcp-Session-Id': '1' } }],
    ['a value that begins another header', { ...tickets, headers: { 'x-a': 'b\r\nx-c: d' } }],
    ['secrets for the sandbox', { ...notes, headers: { 'x-a': 'b' } }],
    ['what was sealed elsewhere', { ...tickets, sealed_headers: { authorization: 'v1.AAAA' } }],
  ])('refuses %s', (_, server) => {
    expect(accepts(server)).toBe(false);
  });
});

describe('a stored agent', () => {
  const accepts = (server: object) =>
    agentDefinition.safeParse({ name: 'Support', mcp_servers: [server, notes] }).success;

  it('has servers whose headers are given, or null where the value is kept', () => {
    expect(accepts(tickets)).toBe(true);
    expect(accepts({ ...tickets, headers: { authorization: 'Bearer 1', 'x-team': null } })).toBe(true);
  });

  it('names no value that was sealed elsewhere', () => {
    expect(accepts({ ...tickets, sealed_headers: { authorization: 'v1.AAAA' } })).toBe(false);
  });
});
