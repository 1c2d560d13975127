import { quote } from '@docrelay/model/quote'
import { failure, success } from '../results.ts'
import type { ToolDefinition } from '../tool.ts'
import { annotations, input, output, TEXT } from './schema.ts'
import type { SkillLibrary } from './skills.ts'

/** [TOOL-get_skills, SKILL-1] */
export function getSkills(library: SkillLibrary): ToolDefinition {
  return {
    name: 'get_skills',
    title: 'Get skills',
    description: 'Call it first. Returns the content contract and recipes, or one (skill).',
    inputSchema: input({}, { skill: TEXT }),
    // Which members a success has depends on the argument.
    outputSchema: output([], ['contentContract', 'skills', 'skill', 'content']),
    annotations: annotations('RO', 'ID'),
    toolset: 'read',
    access: 'none',
    bucket: 'read',
    async run({ args }) {
      const { skill } = args
      if (typeof skill !== 'string') return success({ contentContract: library.contract, skills: library.skills })
      const content = library.recipe(skill)
      if (content !== null) return success({ skill, content })
      const known = library.skills.map((one) => one.skill)
      const shown = quote(skill)
      return failure('ERR_SKILL_NOT_FOUND', `There is no recipe ${JSON.stringify(shown)}; there are ${known.join(', ')}.`, {
        skill: shown,
        known,
      })
    },
  }
}
