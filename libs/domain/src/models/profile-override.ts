import { type ReasoningEffort, reasoningEffort } from '@rondo/contract';
import { z } from 'zod';

/** The known profiles of servers, by the maker that each is for. */
export const profileNames = [
  ...(['openrouter', 'deepseek', 'kimi', 'zai', 'qwen', 'gemini', 'mistral', 'groq', 'xai', 'openai'] as const),
  ...(['vllm', 'llamacpp', 'ollama', 'lmstudio', 'litellm', 'together', 'fireworks', 'bedrock'] as const),
] as const;

/** In what requests to a server differ from what most servers accept. What is left out is as it is for most. */
export interface ProfileRules {
  /**
   * How reasoning goes back with the calls that it led to: in the field that it came in (the default), in `reasoning_content` with
   * every call, even empty, as `reasoning_details`, as the signature of each call, or not at all.
   */
  readonly reasoning?: 'as_received' | 'always' | 'details' | 'signatures' | 'none';
  /** Refuses a user message right after the result of a tool. */
  readonly noUserAfterTool?: boolean;
  /** Refuses images: its models read only text. */
  readonly textOnly?: boolean;
  /**
   * How it takes a PDF: in the block that its protocol has for files, as the URL of an image, or not at all, which is the default.
   */
  readonly documents?: 'file' | 'image' | 'none';
  /** Does not know `stream_options`. */
  readonly noStreamOptions?: boolean;
  /** Knows only a part of JSON Schema. */
  readonly plainSchemas?: boolean;
  /** The most tools of a request. Most refuse more than 128. */
  readonly maxTools?: number;
  /** The efforts that it has, from the least; the nearest is asked for. Absent: all are passed on. */
  readonly efforts?: readonly ReasoningEffort[];
  /** Its words for a request that is too long, beyond those that are known. Numbers in them stand for any number. */
  readonly tooLong?: readonly string[];
}

/** The rules that hold for servers with the API of Anthropic, too. */
export const rulesOfAnyServer: ReadonlySet<string> = new Set<keyof ProfileRules>(['textOnly', 'documents', 'tooLong']);

/** What a provider's entry in MODEL_PROVIDERS says about its profile. */
export interface ProfileOverride {
  /** The known profile to begin with. Default: the one that is found by name, host and model. */
  readonly like?: string;
  /** The rules that differ from that profile. */
  readonly rules: ProfileRules;
}

/** The rules in snake_case; the name of a known profile; or both. */
export const profileOverride = z
  .preprocess(
    (given) => (typeof given === 'string' ? { like: given } : given),
    z.strictObject({
      like: z.enum(profileNames).optional(),
      reasoning: z.enum(['as_received', 'always', 'details', 'signatures', 'none']).optional(),
      no_user_after_tool: z.boolean().optional(),
      text_only: z.boolean().optional(),
      documents: z.enum(['file', 'image', 'none']).optional(),
      no_stream_options: z.boolean().optional(),
      plain_schemas: z.boolean().optional(),
      max_tools: z.number().int().positive().optional(),
      efforts: z.array(reasoningEffort).min(1).optional(),
      too_long: z.array(z.string().trim().min(8).max(300)).min(1).max(20).optional(),
    }),
  )
  .transform(({ like, reasoning, no_user_after_tool, text_only, ...more }): ProfileOverride => {
    const { documents, no_stream_options, plain_schemas, max_tools, efforts, too_long } = more;
    return {
      ...(like !== undefined && { like }),
      rules: {
        ...(reasoning !== undefined && { reasoning }),
        ...(no_user_after_tool !== undefined && { noUserAfterTool: no_user_after_tool }),
        ...(text_only !== undefined && { textOnly: text_only }),
        ...(documents !== undefined && { documents }),
        ...(no_stream_options !== undefined && { noStreamOptions: no_stream_options }),
        ...(plain_schemas !== undefined && { plainSchemas: plain_schemas }),
        ...(max_tools !== undefined && { maxTools: max_tools }),
        ...(efforts !== undefined && { efforts: reasoningEffort.options.filter((one) => efforts.includes(one)) }),
        ...(too_long !== undefined && { tooLong: too_long }),
      },
    };
  });
