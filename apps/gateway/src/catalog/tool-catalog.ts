import type { ProfileName } from '@rondo/contract';
import { type ToolDefinition, argumentsSchema, expectEffect, profiles, tools, whyUnavailable } from '@rondo/domain';
import { type HeardExecutor, type NatsLink, ToolSupport } from '@rondo/messaging';

/** A tool as the API lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly group: string;
  readonly effect_class: ReturnType<typeof expectEffect>;
  readonly parameters: Record<string, unknown>;
  readonly default_in: readonly ProfileName[];
  readonly available: boolean;
  readonly reason: string;
}

const profileNames = Object.keys(profiles) as ProfileName[]; // the keys of a Record of them

/** The tools of this deployment, and whether its executors can run them. */
export class ToolCatalog {
  private support: Pick<ToolSupport, 'lacked' | 'problem' | 'executors'> | undefined;

  constructor(link: Promise<NatsLink>) {
    void link.then((nats) => (this.support = new ToolSupport(nats)));
  }

  /** Those that were heard in the last seconds; undefined before the first connection to NATS. */
  get executors(): readonly HeardExecutor[] | undefined {
    return this.support?.executors;
  }

  list(): ListedTool[] {
    return tools.map((tool) => {
      const problem = this.findProblem(tool);
      const default_in = profileNames.filter((name) => profiles[name].settings.tools.includes(tool.name));
      return {
        ...{ name: tool.name, description: tool.description, group: tool.group },
        ...{ effect_class: expectEffect(tool), parameters: argumentsSchema(tool), default_in },
        available: problem === undefined,
        reason: problem ?? whyOffered(default_in),
      };
    });
  }

  private findProblem(tool: ToolDefinition): string | undefined {
    const needsExecutor = tool.runsIn === 'executor';
    if (!this.support) return !needsExecutor ? undefined : 'The gateway has no connection to NATS.';
    const problem = needsExecutor ? this.support.problem : undefined;
    return problem ?? whyUnavailable(tool, this.support.lacked);
  }
}

const whyOffered = (profiles: readonly ProfileName[]): string =>
  profiles.length > 0
    ? `Offered to runs of the profile ${profiles.join(', ')}, unless their settings switch it off.`
    : 'Offered to runs whose settings name it or switch its group on.';
