import { serialiseHtml } from '@docrelay/model/prose/html'
import { anyTree } from '@docrelay/model/prose/testing/arbitrary'
import fc from 'fast-check'
import type { ArgumentsSchema } from '../../arguments.ts'
import type { JsonObject } from '../../tool.ts'
import type { ToolRow } from '../tool-row.ts'
import { SAMPLE_DOCUMENT } from './sample-document.ts'

/** Ids that may stand for each other: most calls still find what they name, some do not. */
const ALIKE: readonly (readonly string[])[] = [
  SAMPLE_DOCUMENT.pages.map(({ id }) => id),
  SAMPLE_DOCUMENT.richTextPages.map(({ id }) => id),
  SAMPLE_DOCUMENT.pages.flatMap(({ shapes }) => shapes.map(({ id }) => id)),
]

const html = fc.oneof({ weight: 4, arbitrary: anyTree.map(serialiseHtml) }, { weight: 1, arbitrary: fc.constant('') })
const text = fc.constantFrom('One', 'Two', ' ', 'x'.repeat(300))

/** Arguments that stand for the same in every tool. */
const BY_NAME: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  content: html,
  body: html,
  name: text,
  title: text,
  // The only table that is on a page for sure.
  tableIndex: fc.constant(0),
  fields: fc.array(fc.record({ name: fc.constantFrom('A', 'B', 'Title'), value: fc.constantFrom('1', '2', '', null) }), {
    minLength: 1,
    maxLength: 3,
  }),
}

/**
 * Calls like the examples of a tool, with other values of the same kinds, on documents that have the pages and the shapes of the sample document
 * and any prose; blocks are named by handles.
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
      // Says that handles may be used.
      ...(Object.hasOwn(properties, 'expectedVersion') && { expectedVersion: fc.constant(1) }),
    })
  })
}

/** Whole numbers among the arguments are positions. */
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
    // As JSON is parsed.
    noNullPrototype: true,
  })
}

function variedText(value: string): fc.Arbitrary<string> {
  if (value.startsWith('blk-')) return fc.nat({ max: 5 }).map((index) => `@${index}`)
  const others = ALIKE.find((ids) => ids.includes(value))
  if (others === undefined) return fc.constant(value)
  return fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: fc.constantFrom(...others, 'nowhere') })
}

/** Mostly all of the ids, in another order. */
function variedOrder(order: readonly unknown[]): fc.Arbitrary<readonly unknown[]> {
  const all = fc.shuffledSubarray([...order], { minLength: order.length })
  return fc.oneof({ weight: 5, arbitrary: all }, { weight: 1, arbitrary: fc.shuffledSubarray([...order]) })
}
