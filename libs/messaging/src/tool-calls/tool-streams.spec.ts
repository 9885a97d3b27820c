import { TestNats, createToolStreams } from '../testing/test-nats';
import { ToolStreams } from './tool-streams';

describe('ToolStreams', () => {
  let nats: TestNats;
  beforeEach(() => (nats = new TestNats()));
  afterEach(async () => {
    jest.restoreAllMocks();
    await nats.close();
  });

  async function streams() {
    const toolStreams = createToolStreams(await nats.link());
    await toolStreams.ensure();
    return toolStreams;
  }

  it('identifies the store alike in every process, as long as no data was lost', async () => {
    const [one, other] = [await streams(), await streams()];

    expect(other.remembers(one.store)).toBe(true);
  });

  it('knows no store before the first check, and remembers no unknown store', async () => {
    const toolStreams = createToolStreams(await nats.link());

    expect(toolStreams.store).toBeNull();
    expect((await streams()).remembers(null)).toBe(false);
  });

  it('does not remember a store that was lost', async () => {
    const before = (await streams()).store;
    await nats.loseStreams();

    expect((await streams()).remembers(before)).toBe(false);
  });

  it('does not rely on records that are about to expire', async () => {
    const known = await streams();
    const before = known.store;
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 21 * 60 * 60 * 1_000);

    expect(known.remembers(before)).toBe(false);
  });

  it('lets several processes create the streams at the same moment', async () => {
    const links = await Promise.all(Array.from({ length: 6 }, () => nats.link()));
    for (let round = 0; round < 20; round += 1) {
      await nats.loseStreams();
      const created = links.map((link) => new ToolStreams(link).ensure());
      await expect(Promise.all(created)).resolves.toHaveLength(links.length);
    }
  });

  it('updates streams of an older version', async () => {
    const link = await nats.link();
    const { streams: api } = await createToolStreams(link).manager;
    const { stream, all } = link.names.toolResults;
    await api.add({ name: stream, subjects: [all], max_msgs_per_subject: 1 });

    await createToolStreams(link).ensure();

    expect((await api.info(stream)).config).toMatchObject({ allow_direct: true, max_msg_size: 8 * 1024 * 1024 });
  });
});
