import { type DynamicModule, Module } from '@nestjs/common';
import { HealthModule, MetricsModule } from '@rondo/platform';
import { Registry } from 'prom-client';
import type { ExecutorParts } from './compose';
import { ExecutorIdentity } from './executor-identity';
import { ExecutorGauges, ToolCallMetrics } from './executor-metrics';
import { McpResponder } from './mcp/mcp.responder';
import { PlacementController } from './hosting/placement.controller';
import { SandboxHealth } from './sandboxes';
import { SandboxAccess } from './hosting/sandbox-access';
import { SandboxReconciler } from './hosting/sandbox-reconciler';
import { SandboxRetention } from './hosting/sandbox-retention';
import { SandboxResponder } from './hosting/sandbox.responder';
import { ToolCallProcessor } from './tools/tool-call.processor';
import { WorkspaceAdoptions } from './hosting/workspace-adoptions';
import { WorkspaceHosting } from './hosting/workspace-ownership';

/** Hands the parts that `compose` has built to Nest, which runs their lifecycle hooks and the HTTP server. */
@Module({})
export class ToolExecutorModule {
  constructor(registry: Registry, calls: ToolCallMetrics, gauges: ExecutorGauges) {
    calls.register(registry);
    gauges.register(registry);
  }

  static with(parts: ExecutorParts): DynamicModule {
    return {
      module: ToolExecutorModule,
      imports: [MetricsModule.register(parts.config), HealthModule.register({ nats: () => parts.nats.ping() })],
      controllers: [PlacementController],
      providers: [
        { provide: ToolCallProcessor, useValue: parts.toolCallProcessor },
        { provide: SandboxResponder, useValue: parts.sandboxResponder },
        { provide: SandboxReconciler, useValue: parts.sandboxReconciler },
        { provide: SandboxRetention, useValue: parts.sandboxRetention },
        { provide: McpResponder, useValue: parts.mcpResponder },
        { provide: SandboxAccess, useValue: parts.sandboxAccess },
        { provide: WorkspaceHosting, useValue: parts.hosting },
        { provide: WorkspaceAdoptions, useValue: parts.workspaceAdoptions },
        { provide: ExecutorIdentity, useValue: parts.identity },
        { provide: SandboxHealth, useValue: parts.sandboxHealth },
        { provide: ToolCallMetrics, useValue: parts.toolCallMetrics },
        { provide: ExecutorGauges, useValue: parts.gauges },
      ],
    };
  }
}
