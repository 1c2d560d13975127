import type { DoiResolver } from '../../citations/doi-resolver.ts'
import { getSkills } from './get-skills.ts'
import type { IconCatalogue } from './icon-catalogue.ts'
import { listIcons } from './list-icons.ts'
import { resolveDoi } from './resolve-doi.ts'
import type { SkillsFor } from './skills.ts'
import type { ToolRow } from './tool-row.ts'

/** Data of the relay that belongs to no document. */
export interface KnowledgeDeps {
  readonly icons: IconCatalogue
  readonly skills: SkillsFor
  readonly dois: DoiResolver
}

export function knowledgeTools({ icons, skills, dois }: KnowledgeDeps): readonly ToolRow[] {
  return [resolveDoi(dois), getSkills(skills), listIcons(icons)]
}
