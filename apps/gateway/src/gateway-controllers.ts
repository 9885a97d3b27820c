import type { Type } from '@nestjs/common';
import {
  AccountAdministrationController,
  AccountListController,
  ApiKeysController,
  SettingsController,
} from './accounts/accounts.controller';
import { AgentVersionsController, AgentsController } from './agents/agents.controller';
import { ApprovalsController } from './approvals/approvals.controller';
import { AuditController } from './audit/audit.controller';
import { OperationsController } from './operations/operations.controller';
import { BalanceController, UsageController } from './billing/usage.controller';
import { BlobsController } from './blobs/blobs.controller';
import { ClientTokensController, UsersController } from './users/users.controller';
import { CatalogController } from './catalog/catalog.controller';
import { FilesController } from './files/files.controller';
import { WatchController } from './live/watch.controller';
import { McpConnectPagesController, McpConnectionsController } from './mcp-connections/mcp-connections.controller';
import { McpServersController, McpToolsController } from './mcp-tools/mcp-tools.controller';
import { ProjectsController } from './projects/projects.controller';
import { PublicReadsController } from './projects/public-reads.controller';
import { RewindsController, RunReadsController } from './runs/run-reads.controller';
import { RunsController } from './runs/runs.controller';
import {
  SandboxBrowserController,
  SandboxFilesController,
  SandboxesController,
} from './sandboxes/sandboxes.controller';
import { SitesController } from './sites/sites.controller';
import { SecretsController } from './secrets/secrets.controller';
import { MemoryController } from './memory/memory.controller';
import { EvaluationsController } from './evaluations/evaluations.controller';
import { SkillsController } from './skills/skills.controller';
import { SessionsController } from './sessions/sessions.controller';
import { MessagesController, ThreadsController } from './threads/threads.controller';
import { CallerCallsController } from './tool-calls/caller-calls.controller';
import { HooksController, WebhookTriggersController } from './triggers/webhook-triggers.controller';
import { SchedulesController } from './triggers/schedules.controller';
import { WebhookDeliveriesController, WebhookEndpointsController } from './webhooks/webhook-endpoints.controller';

/** Everything that answers HTTP requests, but for façades. */
export const controllers: Type[] = [
  AgentsController,
  AgentVersionsController,
  ProjectsController,
  PublicReadsController,
  ThreadsController,
  MessagesController,
  RunsController,
  RunReadsController,
  RewindsController,
  ApprovalsController,
  CallerCallsController,
  McpConnectionsController,
  McpConnectPagesController,
  McpServersController,
  McpToolsController,
  WatchController,
  BlobsController,
  FilesController,
  CatalogController,
  UsageController,
  BalanceController,
  SandboxesController,
  SitesController,
  SchedulesController,
  WebhookTriggersController,
  HooksController,
  WebhookDeliveriesController,
  WebhookEndpointsController,
  SecretsController,
  EvaluationsController,
  SkillsController,
  MemoryController,
  SandboxBrowserController,
  SandboxFilesController,
  AccountAdministrationController,
  AccountListController,
  ApiKeysController,
  SettingsController,
  ClientTokensController,
  UsersController,
  SessionsController,
  AuditController,
  OperationsController,
];
