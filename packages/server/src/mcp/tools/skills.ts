import { readFileSync } from 'node:fs'
import type { ToolView } from '../tool.ts'
import { skillText } from './skill-text.ts'

export interface SkillArgument {
  readonly name: string
  readonly description: string
  readonly required: boolean
}

/** A recipe for agents; each recipe is also served as a prompt. [SKILL-4, SKILL-5] */
export interface Skill {
  readonly skill: string
  readonly title: string
  readonly whenToUse: string
  readonly arguments: readonly SkillArgument[]
}

export interface SkillLibrary {
  /** The Markdown text that says how to edit and what content may contain. [SKILL-3] */
  readonly contract: string
  readonly skills: readonly Skill[]
  /** Returns a recipe as Markdown; `null` when there is none with this name. */
  recipe(skill: string): string | null
}

/** Returns the library for a request: names and arguments are the same for all, texts name only tools that the request sees. [AG-96] */
export type SkillsFor = (view: Pick<ToolView, 'extra'>) => SkillLibrary

const argument =
  (required: boolean) =>
  (name: string, description: string): SkillArgument => ({ name, description, required })
const needs = argument(true)
const may = argument(false)
const DOC = may('docId', 'Document to work on; a new one when absent.')

/** The recipes in the order of SKILL-4. */
const SKILLS: readonly Skill[] = [
  {
    skill: 'architecture-rfc',
    title: 'Write an architecture RFC',
    whenToUse: 'To propose or record a design.',
    arguments: [needs('system', 'What is designed.'), may('title', 'Title of the document.'), DOC],
  },
  {
    skill: 'document-codebase-module',
    title: 'Document a module of a codebase',
    whenToUse: 'To explain code that you can read.',
    arguments: [needs('module', 'Name of the module.'), may('paths', 'Where its code lies.'), DOC],
  },
  {
    skill: 'diagram-from-description',
    title: 'Draw a diagram from a description',
    whenToUse: 'To show parts and their relations.',
    arguments: [
      needs('description', 'What the diagram shows.'),
      DOC,
      may('pageId', 'Canvas page to draw on; another or a new one when absent.'),
    ],
  },
  {
    skill: 'meeting-notes-to-doc',
    title: 'Turn meeting notes into a document',
    whenToUse: 'To sort out decisions, actions and open questions.',
    arguments: [needs('notes', 'The notes as they were taken.'), may('title', 'Title of the document.')],
  },
  {
    skill: 'attach-files',
    title: 'Attach files to a document',
    whenToUse: 'To show or name images and other files.',
    arguments: [needs('docId', 'Document that gets the files.'), may('files', 'Which files, and where they are.')],
  },
  {
    skill: 'edit-tables',
    title: 'Edit a table',
    whenToUse: 'To change rows, columns, merged cells or headers.',
    arguments: [
      needs('docId', 'Document that holds the table.'),
      needs('goal', 'How the table should be afterwards.'),
      may('pageId', 'Prose page of the table.'),
    ],
  },
  {
    skill: 'research-writeup',
    title: 'Write up research with citations',
    whenToUse: 'To write findings that cite sources.',
    arguments: [needs('topic', 'What is written about.'), may('dois', 'DOIs of the sources.'), DOC],
  },
]

/** By recipe: the tools without which it is left out. */
const NEEDS: Readonly<Record<string, readonly string[]>> = { 'diagram-from-description': ['generate_diagram'] }

/**
 * Opens the recipes in the folder `assets` beside this file, for a build with these tools. Leaves out recipes that need another tool. [SKILL-1,
 * AG-96]
 */
export function openSkills(tools: ReadonlySet<string>): SkillLibrary {
  const read = (name: string): string =>
    skillText(readFileSync(new URL(`./assets/skills/${name}.md`, import.meta.url), 'utf8'), tools)
  const skills = SKILLS.filter(({ skill }) => (NEEDS[skill] ?? []).every((tool) => tools.has(tool)))
  const recipes = new Map(skills.map(({ skill }) => [skill, read(skill)]))
  return { contract: read('contract'), skills, recipe: (skill) => recipes.get(skill) ?? null }
}
