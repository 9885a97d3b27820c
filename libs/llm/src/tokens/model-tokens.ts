import type { ImageSize } from '@rondo/contract';
import { splitModelName } from '@rondo/domain';
import type { VocabularyName } from './vocabulary';

/** How the models of one family count tokens. */
export interface ModelTokens {
  readonly vocabulary: VocabularyName;
  /** Multiplies the vocabulary's count, where the model's own vocabulary is not public. */
  readonly factor: number;
  imageTokens(size: ImageSize): number;
}

const tokensOfUnknownImage = 1500;

const families: readonly { readonly id: RegExp; readonly tokens: ModelTokens }[] = [
  {
    id: /^(?:gpt-4o|gpt-4\.[1-9]|gpt-[5-9]|chatgpt-|o\d)/,
    tokens: { vocabulary: 'o200k_base', factor: 1, imageTokens: openAiImage },
  },
  { id: /^gpt-/, tokens: { vocabulary: 'cl100k_base', factor: 1, imageTokens: openAiImage } },
  /** Claude counts about a fifth more tokens than cl100k in English and in code; its reported usage corrects the rest. */
  { id: /^claude-/, tokens: { vocabulary: 'cl100k_base', factor: 1.2, imageTokens: anthropicImage } },
];

const unknownModel: ModelTokens = { vocabulary: 'cl100k_base', factor: 1, imageTokens: () => tokensOfUnknownImage };

/** By the model's own name, so that it counts alike at every provider. */
export function tokensOfModel(model: string): ModelTokens {
  const id = splitModelName(model).id.replace(/^.*\//, '');
  return families.find((family) => family.id.test(id))?.tokens ?? unknownModel;
}

export function imageTokens(size: ImageSize | undefined, model: string): number {
  return size ? tokensOfModel(model).imageTokens(size) : tokensOfUnknownImage;
}

/** OpenAI's formula: scaled to fit 2048 × 2048, then to 768 on the shorter side; 85 tokens, and 170 for each tile of 512. */
function openAiImage(size: ImageSize): number {
  const fitted = fit(size, 2048 / Math.max(size.width, size.height));
  const { width, height } = fit(fitted, 768 / Math.min(fitted.width, fitted.height));
  return 85 + 170 * Math.ceil(width / 512) * Math.ceil(height / 512);
}

/** Anthropic's formula: scaled to 1568 on the longer side; one token for 750 pixels, at most 1600. */
function anthropicImage(size: ImageSize): number {
  const { width, height } = fit(size, 1568 / Math.max(size.width, size.height));
  return Math.min(1600, Math.ceil((width * height) / 750));
}

/** Never scales up. */
const fit = ({ width, height }: ImageSize, scale: number): ImageSize =>
  scale < 1 ? { width: width * scale, height: height * scale } : { width, height };
