import { serialiseHtml } from '@docrelay/model/prose/html'
import { anyTree } from '@docrelay/model/prose/testing/arbitrary'
import fc from 'fast-check'
import type { ArgumentsSchema } from '../../arguments.ts'
import type { JsonObject } from '../../tool.ts'
import type { ToolRow } from '../tool-row.ts'
import { SAMPLE_DOCUMENT } from './sample-document.ts'

/** Groups of ids that may replace each other in a varied call. Most varied calls still name something that exists. */
const ALIKE: readonly (readonly string[])[] = [
  SAMPLE_DOCUMENT.pages.map(({ id }) => id),
  SAMPLE_DOCUMENT.richTextPages.map(({ id }) => id),
  SAMPLE_DOCUMENT.pages.flatMap(({ shapes }) => shapes.map(({ id }) => id)),
]

const html = fc.oneof({ weight: 4, arbitrary: anyTree.map(serialiseHtml) }, { weight: 1, arbitrary: fc.constant('') })
const text = fc.constantFrom('One', 'Two', ' ', 'x'.repeat(300))

/** Arguments that mean the same in every tool. */
const BY_NAME: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  content: html,
  body: html,
  name: text,
  title: text,
  edits: fc.array(
    fc.record({
      find: fc.constantFrom('a', 'e', ' ', 'One', 'x'),
      replace: fc.constantFrom('', 'y', 'two words', 'x\ny'),
      all: fc.constant(true),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  steps: fc.array(
    fc.constantFrom(
      { tool: 'insert_section', arguments: { pageId: 'p', level: 2, title: 'Step', position: 'start' } },
      { tool: 'restructure_outline', arguments: { pageId: 'p', op: 'demote', index: 0 } },
      { tool: 'edit_text', arguments: { edits: [{ find: 'A', replace: 'B A', occurrence: 1 }] } },
      { tool: 'set_block', arguments: { pageId: 'p', id: '@0', level: 3 } },
    ),
    { minLength: 1, maxLength: 3 },
  ),
  // A page is certain to have a first table only.
  tableIndex: fc.constant(0),
  fields: fc.array(fc.record({ name: fc.constantFrom('A', 'B', 'Title'), value: fc.constantFrom('1', '2', '', null) }), {
    minLength: 1,
    maxLength: 3,
  }),
}

/**
 * Makes calls like the examples of a tool, with other values of the same kinds. They run on documents with the pages and shapes of the sample
 * document and random prose, so blocks are named by handles.
 */
export function variedExamples({ examples, inputSchema }: ToolRow): fc.Arbitrary<JsonObject> {
  const { properties } = inputSchema as unknown as ArgumentsSchema
  return fc.constantFrom(...examples).chain((example) => {
    const isProse = Object.hasOwn(example, 'content') || Object.hasOwn(example, 'body')
    const members = Object.entries(example).map(([name, value]) => {
      const { enum: choices = [] } = properties[name] ?? {}
      return [name, choices.length > 0 && name !== 'op' ? fc.constantFrom(...choices) : variedArgument(name, value)] as const
    })
    return fc.record({
      ...Object.fromEntries(members),
      docId: fc.constant('doc'),
      ...(isProse && { format: fc.constant('html') }),
      // A call with handles needs an expected version.
      ...(Object.hasOwn(properties, 'expectedVersion') && { expectedVersion: fc.constant(1) }),
    })
  })
}

/** Makes other values for an argument. An integer is taken as a position. */
function variedArgument(name: string, value: unknown): fc.Arbitrary<unknown> {
  return Number.isInteger(value) && !Object.hasOwn(BY_NAME, name)
    ? fc.oneof(fc.constant(value), fc.nat({ max: 3 }))
    : varied(name, value)
}

function varied(name: string, value: unknown): fc.Arbitrary<unknown> {
  const named = Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined
  if (named !== undefined) return named
  if (typeof value === 'string') return variedText(value)
  if (typeof value === 'number') return fc.oneof(fc.constant(value), fc.nat({ max: 3 }), fc.constantFrom(-7.5, 1e9))
  if (Array.isArray(value)) return name === 'order' ? variedOrder(value) : fc.tuple(...value.map((item) => varied('', item)))
  if (typeof value !== 'object' || value === null) return fc.constant(value)
  const members = Object.entries(value).map(([member, inner]) => [member, varied(member, inner)] as const)
  return fc.record(Object.fromEntries(members), {
    requiredKeys: members.slice(0, 1).map(([member]) => member),
    // JSON.parse never makes an object without a prototype.
    noNullPrototype: true,
  })
}

function variedText(value: string): fc.Arbitrary<string> {
  if (value.startsWith('blk-')) return fc.nat({ max: 5 }).map((index) => `@${index}`)
  const others = ALIKE.find((ids) => ids.includes(value))
  if (others === undefined) return fc.constant(value)
  return fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: fc.constantFrom(...others, 'nowhere') })
}

/** Makes an order that usually contains all of the ids. */
function variedOrder(order: readonly unknown[]): fc.Arbitrary<readonly unknown[]> {
  const all = fc.shuffledSubarray([...order], { minLength: order.length })
  return fc.oneof({ weight: 5, arbitrary: all }, { weight: 1, arbitrary: fc.shuffledSubarray([...order]) })
}
