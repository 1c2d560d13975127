import { quote } from '@docrelay/model/quote'
import { failure, success } from '../results.ts'
import { annotations, input, TEXT } from './schema.ts'
import { output } from './output-schema.ts'
import type { ToolRow } from './tool-row.ts'
import type { Skill, SkillsFor } from './skills.ts'

/** The tool `get_skills`, which returns the recipes. [TOOL-get_skills, SKILL-1] */
export function getSkills(skills: SkillsFor): ToolRow {
  return {
    name: 'get_skills',
    place: 10,
    title: 'Get skills',
    description: 'Call it first. Returns the content contract and recipes.',
    errors: { ERR_SKILL_NOT_FOUND: { skill: 'nope' } },
    examples: [{}, { skill: 'edit-tables' }],
    inputSchema: input({}, { skill: TEXT }),
    // Which members a success has depends on the argument.
    outputSchema: output([], ['contentContract', 'skills', 'skill', 'content']),
    annotations: annotations('RO', 'ID'),
    toolset: 'read',
    access: 'none',
    bucket: 'read',
    async run({ args, view }) {
      const library = skills(view)
      const { skill } = args
      if (typeof skill !== 'string') return success({ contentContract: library.contract, skills: library.skills.map(listed) })
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

/** Returns a recipe for the catalogue. Argument descriptions are only in `prompts/list`, since each model reads the catalogue. */
function listed({ arguments: args, ...skill }: Skill): object {
  return { ...skill, arguments: args.map(({ name, required }) => (required ? { name, required } : { name })) }
}
