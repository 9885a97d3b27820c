import { type InlineImage, inlineImage } from '@rondo/contract';
import { pngSource } from '@rondo/contract/testing';
import { Purge } from '../../retention/purge';
import { StoreFixture, nextId, newAccount } from '../../testing/store-fixture';
import { FetchedImages } from './fetched-images';

let fixture: StoreFixture;
let images: FetchedImages;
beforeAll(async () => {
  fixture = await StoreFixture.open();
  images = new FetchedImages(fixture.database);
});
afterAll(() => fixture.close());

const image = (more: number): InlineImage =>
  inlineImage.parse({ media_type: 'image/png', data: pngSource({}, [more]).data });

/** A message that shows an image by its URL. */
async function message() {
  const accountId = await newAccount(fixture.database);
  const { id: threadId } = await fixture.threads.create({ accountId, metadata: {} });
  const source = { type: 'url' as const, url: 'https://example.com/a.png' };
  const { id } = await fixture.messages.add({ accountId, threadId, content: [{ type: 'image', source }] });
  return { owner: { accountId, threadId }, place: { messageId: id, block: 0 } };
}

describe('the images of URLs in messages', () => {
  it('are blobs of their account and thread, as if they had been uploaded', async () => {
    const { owner, place } = await message();

    const fetched = await images.keep(place, owner, image(1));

    if (fetched.how !== 'kept') throw new Error('not kept');
    expect(fetched.image).toMatchObject({ media_type: 'image/png', width: 2, height: 3 });
    const { bytes } = await fixture.blobs.get({ accountId: owner.accountId, sha256: fetched.image.sha256 });
    expect(bytes.toString('base64')).toBe(image(1).data);
    expect(await images.of([place.messageId])).toEqual([{ ...place, fetched }]);
  });

  it('are what was recorded first, also when another worker records something else later', async () => {
    const { owner, place } = await message();

    const all = await Promise.all([
      images.keep(place, owner, image(2)),
      images.keep(place, owner, image(3)),
      images.refuse(place, 'its server answered with status 404'),
    ]);

    expect(all).toEqual(Array(3).fill(all[0]));
    expect(await images.of([place.messageId])).toEqual([{ ...place, fetched: all[0] }]);
  });

  it('may be none, and then the reason is kept', async () => {
    const { place } = await message();
    const refused = { how: 'refused', problem: 'its server answered with status 404' };

    expect(await images.refuse(place, refused.problem)).toEqual(refused);
    expect(await images.of([place.messageId])).toEqual([{ ...place, fetched: refused }]);
  });

  it('are deleted with their thread', async () => {
    const { owner, place } = await message();
    const fetched = await images.keep(place, owner, image(4));
    if (fetched.how !== 'kept') throw new Error('not kept');

    await fixture.threads.delete(owner);
    await new Purge({ database: fixture.database, newId: nextId, onStopped: () => undefined }).some();

    expect(await images.of([place.messageId])).toEqual([]);
    const blob = fixture.blobs.get({ accountId: owner.accountId, sha256: fetched.image.sha256 });
    await expect(blob).rejects.toMatchObject({ code: 'blob_not_found' });
  });
});
