import type { Blobs, Model, ModelChunk, ModelMessage, ModelRequest, ShownImage } from '@rondo/domain';

type Show = (image: ShownImage) => ShownImage;

/**
 * A model that is shown the images to which messages refer (D13). The same blob is the same text each time, so a request
 * begins with the bytes of the one before. What is not there any more stays a reference, which the model is told of in
 * words. Rejects where the blobs cannot be read: that is the worker's trouble, not the provider's.
 */
export class ImagesFromBlobs implements Model {
  constructor(
    private readonly model: Model,
    private readonly blobs: Blobs,
  ) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk> {
    yield* this.model.stream(await this.withBytes(request), signal);
  }

  private async withBytes(request: ModelRequest): Promise<ModelRequest> {
    const images = request.messages.flatMap(imagesIn);
    const blobs = images.flatMap((image) => (image.type === 'blob' ? [image.sha256] : []));
    if (blobs.length === 0) return request;

    const found = await this.blobs.read([...new Set(blobs)]);
    const show: Show = (image) => {
      const data = image.type === 'blob' && found.get(image.sha256);
      return data ? { type: 'base64', media_type: image.media_type, data } : image;
    };
    return { ...request, messages: request.messages.map((message) => showing(message, show)) };
  }
}

function imagesIn(message: ModelMessage): ShownImage[] {
  switch (message.role) {
    case 'user':
      return message.content.flatMap((block) => (block.type === 'image' ? [block.source] : []));
    case 'tool':
      return message.results.flatMap(({ image }) => image ?? []);
    case 'assistant':
      return [];
  }
}

function showing(message: ModelMessage, show: Show): ModelMessage {
  switch (message.role) {
    case 'user':
      return {
        role: 'user',
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
