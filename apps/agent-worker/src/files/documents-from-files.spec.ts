import { Readable } from 'node:stream';
import type { FileId } from '@rondo/contract';
import { type ClaimedRun, type Model, type ModelRequest, dialectNamed, documentsIn } from '@rondo/domain';
import { Files, RunDocuments } from '@rondo/persistence';
import { StoreFixture, newAccount, nextId } from '@rondo/persistence/testing';
import { ImageCache } from '../images/image-cache';
import { DocumentsFromFiles, DocumentsInMessages } from './documents-from-files';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const pdf = (pages: number) => Buffer.from(`%PDF-1.7 ${nextId()} ${'<</Type/Page>>'.repeat(pages)}`);

async function upload(name: string, bytes: Buffer, toMediaType = () => 'application/pdf'): Promise<FileId> {
  const limits = { fileBytes: 100_000_000, accountBytes: 1_000_000_000 };
  const source = Readable.from([bytes]);
  const files = new Files(fixture.database, nextId);
  return (await files.store({ accountId: fixture.accountId, name, source, limits, toMediaType })).id;
}

function worker({ reads = true, budget = 1_000_000 } = {}) {
  const documents = new RunDocuments(fixture.database);
  const cache = new ImageCache((runId, hashes) => documents.read(runId, hashes), 1_000_000);
  const parts = {
    documents,
    readerFor: cache.of.bind(cache),
    readsDocuments: () => reads,
    resolveBudget: () => budget,
  };
  return { cache, inMessages: new DocumentsInMessages(parts) };
}

async function claimWith(files: FileId[]): Promise<ClaimedRun> {
  const { run } = await fixture.create({ files });
  return fixture.claim(run.id);
}

const listMessages = ({ earlier, log }: ClaimedRun) => [
  ...earlier,
  ...log.flatMap((fact) => (fact.type === 'message.created' ? [fact.data.message] : [])),
];
const shownIn = async (claim: ClaimedRun, settings = {}) =>
  listMessages(await worker(settings).inMessages.showIn(claim))
    .flatMap(documentsIn)
    .map(({ name, pages }) => [name, pages]);

describe('the PDFs of messages', () => {
  it('are shown with their pages; other files are not', async () => {
    const ids = [
      await upload('a.pdf', pdf(2)),
      await upload('locked.pdf', Buffer.from('%PDF-1.7 /Encrypt <</Type/Page>>')),
      await upload('notes.pdf', Buffer.from('text'), () => 'text/plain'),
    ];
    expect(await shownIn(await claimWith(ids))).toEqual([['a.pdf', 2]]);
  });

  it('are not shown to a model that does not read them, nor where they would fill what it reads', async () => {
    const claim = await claimWith([await upload('a.pdf', pdf(10)), await upload('b.pdf', pdf(2))]);
    expect(await shownIn(claim, { reads: false })).toEqual([]);
    expect(await shownIn(claim, { budget: 20_000 })).toEqual([['b.pdf', 2]]);
    expect(await shownIn(claim, { budget: 1_000 })).toEqual([]);
  });

  it('are found for runs of their account only', async () => {
    const claim = await claimWith([await upload('a.pdf', pdf(1))]);
    const [document] = listMessages(await worker().inMessages.showIn(claim)).flatMap(documentsIn);
    const stranger = await fixture.create({ accountId: await newAccount(fixture.database) });
    const read = (run: typeof claim.runId) =>
      new RunDocuments(fixture.database).read(run, document ? [document.sha256] : []);
    expect((await read(claim.runId)).size).toBe(1);
    expect((await read(stranger.run.id)).size).toBe(0);
  });

  it('reach the model with their bytes, and without them once the file is deleted', async () => {
    const bytes = pdf(1);
    const id = await upload('a.pdf', bytes);
    const claim = await claimWith([id]);
    const { cache, inMessages } = worker();
    const conversation = listMessages(await inMessages.showIn(claim));
    const messages = dialectNamed('native').encode(conversation, [], claim.run.settings.processor);
    const asked: ModelRequest[] = [];
    const model: Model = {
      async *stream(request) {
        asked.push(request);
        yield await Promise.resolve([{ type: 'end', how: 'aborted' }]);
      },
    };
    const ask = async (reader = cache.of(claim.runId)) => {
      const request = { model: 'a/b', system: '', tools: [], settings: {}, messages };
      const chunks = new DocumentsFromFiles(model, reader).stream(request, new AbortController().signal);
      for await (const batch of chunks) expect(batch).toHaveLength(1);
      return JSON.stringify(asked.at(-1)?.messages);
    };
    expect(await ask()).toContain(`"data":"${bytes.toString('base64')}"`);
    await new Files(fixture.database, nextId).delete({ accountId: fixture.accountId, fileId: id });
    expect(await ask(worker().cache.of(claim.runId))).not.toContain('"data"');
  });
});
