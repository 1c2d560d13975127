import { createDoiResolver } from '../citations/doi-resolver.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import { systemTimers } from '../kernel/timers.ts'
import { createContent } from '../mcp/resources/mcp-content.ts'
import { openViews } from '../mcp/resources/views.ts'
import type { McpContent } from '../mcp/content.ts'
import type { McpDocuments } from '../mcp/local-access.ts'
import { offeredNames } from '../mcp/tools/all-tools.ts'
import { openIconCatalogue } from '../mcp/tools/icon-catalogue.ts'
import type { KnowledgeDeps } from '../mcp/tools/knowledge.ts'
import { openSkills, type SkillsFor } from '../mcp/tools/skills.ts'
import { directly } from '../outbound/guarded-hop.ts'
import { systemResolve } from '../outbound/resolver.ts'
import type { Base } from './base.ts'
import type { Live } from './live.ts'
import { accessPolicyOf } from './access-policy.ts'

/** Opens what the endpoint offers besides the documents of the relay. */
export function openKnowledge({ config, clock, release }: Base): KnowledgeDeps {
  const dois = createDoiResolver({
    base: new URL(config.citations.doiResolver),
    userAgent: `docrelay/${release.version}`,
    network: { resolve: systemResolve, connect: directly },
    clock,
  })
  return { icons: openIconCatalogue(), skills: skillsFor(config.mcp.extraTools), dois }
}

function skillsFor(extraTools: boolean): SkillsFor {
  const ofInterface = openSkills(offeredNames(false))
  const whole = extraTools ? openSkills(offeredNames(true)) : ofInterface
  return ({ extra }) => (extra ? whole : ofInterface)
}

/** Opens resources, prompts and completion. */
export function openContent(
  { config, clock, log, hints }: Base,
  storage: Storage,
  live: Live,
  documents: McpDocuments,
  knowledge: KnowledgeDeps,
  opened: AsyncDisposableStack,
): McpContent {
  return createContent({
    ...knowledge,
    documents,
    views: opened.use(openViews(log)),
    changes: live.changes,
    follow: (workspaceId) => hints.follow(workspaceId),
    store: storage.documents,
    accessPolicy: accessPolicyOf(config),
    clock,
    timers: systemTimers,
    log,
  })
}
