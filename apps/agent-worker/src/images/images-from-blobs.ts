import type { Sha256 } from '@rondo/contract';
import {
  type Model,
  type ModelChunk,
  type ModelMessage,
  type ModelRequest,
  type ShownImage,
  memoizeGrowingList,
} from '@rondo/domain';
import type { BlobReader } from './image-cache';

type Show = (image: ShownImage) => ShownImage;

/**
 * A model that is shown the images to which messages refer, since facts hold no bytes. The same blob is the same text each time, so a request
 * begins with the bytes of the one before. What is not there any more stays a reference, which the model is told of in
 * words. Rejects where the blobs cannot be read: that is the worker's trouble, not the provider's.
 */
export class ImagesFromBlobs implements Model {
  constructor(
    private readonly model: Model,
    private readonly blobs: BlobReader,
  ) {}

  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelChunk[]> {
    const blobs = listBlobs(request.messages);
    return blobs.length === 0 ? this.model.stream(request, signal) : this.streamShowing(blobs, request, signal);
  }

  private async *streamShowing(
    blobs: readonly Sha256[],
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncIterable<readonly ModelChunk[]> {
    yield* this.model.stream(await this.withBytes(blobs, request), signal);
  }

  private async withBytes(blobs: readonly Sha256[], request: ModelRequest): Promise<ModelRequest> {
    const found = await this.blobs.read([...new Set(blobs)]);
    const show: Show = (image) => {
      const data = image.type === 'blob' && found.get(image.sha256);
      return data ? { type: 'base64', media_type: image.media_type, data } : image;
    };
    return {
      ...request,
      messages: request.messages.map((one) => (listMessageBlobs(one).length > 0 ? showing(one, show) : one)),
    };
  }
}

const listBlobs = memoizeGrowingList<ModelMessage, readonly Sha256[]>((blobs = [], more) => [
  ...blobs,
  ...more.flatMap(listMessageBlobs),
]);

function listMessageBlobs(message: ModelMessage): Sha256[] {
  switch (message.role) {
    case 'user':
      return message.content.flatMap((block) => (block.type === 'image' ? toBlob(block.source) : []));
    case 'tool':
      return message.results.flatMap(({ image }) => (image ? toBlob(image) : []));
    case 'assistant':
      return [];
  }
}

const toBlob = (image: ShownImage): Sha256[] => (image.type === 'blob' ? [image.sha256] : []);

function showing(message: ModelMessage, show: Show): ModelMessage {
  switch (message.role) {
    case 'user':
      return {
        ...message,
        content: message.content.map((block) =>
          block.type === 'image' ? { type: 'image', source: show(block.source) } : block,
        ),
      };
    case 'tool':
      return {
        role: 'tool',
        results: message.results.map(({ image, ...result }) => ({ ...result, ...(image && { image: show(image) }) })),
      };
    case 'assistant':
      return message;
  }
}
