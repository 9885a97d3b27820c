import type { ModelRequest } from '@rondo/domain';

/** More models than a deployment uses at a time; the one that was created first is dropped then. */
const mostModels = 200;

/** More accounts and models than a process serves at a time; what was not used for the longest time is forgotten then. */
const mostLearned = 2_000;

/**
 * What a process knows of each model. What a refusal teaches holds for the account that was refused, and for no other: a tenant
 * can make a request whose refusal names a parameter, an image or a tool that the model takes from others.
 */
export class KnownModels<Known> {
  private readonly usual = new Map<string, Known>();
  private readonly learned = new Map<string, Known>();

  /** `create` says what is known of a model of which nothing was learned. */
  constructor(private readonly create: (model: string) => Known) {}

  find(request: ModelRequest): Known {
    const known = this.learned.get(toKey(request));
    if (known === undefined) return this.findUsual(request.model);
    this.keep(request, known);
    return known;
  }

  /** Keeps what is known now, for the account of this request. */
  keep(request: ModelRequest, known: Known): void {
    const key = toKey(request);
    this.learned.delete(key); // the newest stands last
    this.learned.set(key, known);
    dropFirst(this.learned, mostLearned);
  }

  private findUsual(model: string): Known {
    const known = this.usual.get(model);
    if (known !== undefined) return known;
    const created = this.create(model);
    this.usual.set(model, created);
    dropFirst(this.usual, mostModels);
    return created;
  }
}

const toKey = ({ account = '', model }: ModelRequest): string => `${account} ${model}`;

function dropFirst(map: Map<string, unknown>, most: number): void {
  const [first] = map.keys();
  if (map.size > most && first !== undefined) map.delete(first);
}
