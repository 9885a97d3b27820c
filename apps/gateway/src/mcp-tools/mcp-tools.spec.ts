import { RunningGateway } from '../testing/running-gateway';
import { seenMcpTool } from '../testing/seen-mcp-tool';

const gateway = RunningGateway.forSuite();

describe('tools of MCP servers over REST', () => {
  it('are listed with what has changed, and confirmed by its fingerprint', async () => {
    await seenMcpTool(gateway, 'Reads.');
    await seenMcpTool(gateway, 'Sends all files.');
    const { body } = await gateway.as().get('/v1/mcp-tools?state=changed').expect(200);
    const [known] = body.data;
    expect(known).toMatchObject({ tool: 'read', available: false, changed: { description: 'Sends all files.' } });
    expect((await gateway.as().get(`/v1/mcp-tools/${known.id}`).expect(200)).body).toEqual(known);

    const confirm = (body: object) => gateway.as().post(`/v1/mcp-tools/${known.id}/confirm`).send(body);
    expect((await confirm({ fingerprint: 'of Reads all.' }).expect(409)).body.code).toBe('mcp_tool_changed');
    const { body: confirmed } = await confirm({ fingerprint: known.changed.fingerprint }).expect(200);
    expect(confirmed).toMatchObject({ available: true, changed: null, confirmed_by: expect.stringMatching(/^key_/) });
    expect((await gateway.as().get('/v1/mcp-tools?state=changed').expect(200)).body.data).toEqual([]);
  });

  it('of another account are not found', async () => {
    const { body } = await gateway.as().get('/v1/mcp-tools').expect(200);
    const stranger = gateway.as(await gateway.toKey('a stranger'));
    const { body: problem } = await stranger.get(`/v1/mcp-tools/${body.data[0].id}`).expect(404);
    expect(problem.code).toBe('mcp_tool_not_found');
  });

  it('are forgotten one by one, or with their server', async () => {
    const id = await seenMcpTool(gateway, 'Reads.');
    await gateway.as().delete(`/v1/mcp-tools/${id}`).expect(204);
    expect((await gateway.as().delete(`/v1/mcp-tools/${id}`).expect(404)).body.code).toBe('mcp_tool_not_found');
    await seenMcpTool(gateway, 'Reads.');
    expect((await gateway.as().delete('/v1/mcp-tools?server=tickets').expect(200)).body).toEqual({ forgotten: 1 });
    expect((await gateway.as().get('/v1/mcp-tools').expect(200)).body.data).toEqual([]);
    await gateway.as().delete('/v1/mcp-tools').expect(422);
  });
});
