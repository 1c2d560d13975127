import { InputRule, inputRules, wrappingInputRule } from 'prosemirror-inputrules'
import type { Plugin } from 'prosemirror-state'
import { nodeType } from './node-types.ts'
import { insertedAt, keptAttrs } from './text-blocks.ts'

/** Input rules: what a person may type at the start of a block instead of pressing a button. */
export function typedForms(): Plugin {
  return inputRules({
    rules: [
      textblockRule(/^(#{1,6})\s$/, 'heading', (match) => ({ level: (match[1] as string).length })),
      textblockRule(/^```([\w+#-]*)\s$/, 'codeBlock', (match) => ({ language: match[1] || null })),
      taskRule,
      wrappingInputRule(/^\s*[-*+]\s$/, nodeType('bulletList')),
      wrappingInputRule(
        /^(\d{1,6})[.)]\s$/,
        nodeType('orderedList'),
        (match) => ({ start: Number(match[1]) }),
        (match, list) => list.childCount + Number(list.attrs['start']) === Number(match[1]),
      ),
      wrappingInputRule(/^>\s$/, nodeType('blockquote')),
      ruleRule,
    ],
  })
}

function textblockRule(pattern: RegExp, name: string, attrsOf: (match: RegExpMatchArray) => Record<string, unknown>): InputRule {
  return new InputRule(pattern, ({ tr, doc }, match, start, end) => {
    const type = nodeType(name)
    const place = doc.resolve(start)
    if (!place.node(-1).canReplaceWith(place.index(-1), place.indexAfter(-1), type)) return null
    return tr.delete(start, end).setBlockType(start, start, type, (old) => ({ ...keptAttrs(type, old), ...attrsOf(match) }))
  })
}

/** Makes a task of `[ ] ` and `[x] `, also in a list item that `- ` has just made. */
const taskRule = new InputRule(/^\[([ xX]?)\]\s$/, (state, match, start, end) => {
  const checked = /x/i.test(match[1] ?? '')
  const place = state.doc.resolve(start)
  const tr = state.tr.delete(start, end)
  const range = tr.doc.resolve(start).blockRange()
  if (range === null) return null
  const { parent } = range
  if (parent.type.name === 'listItem' && range.startIndex === 0) {
    const depth = range.depth
    const list = place.node(depth - 1)
    // Only a list with this one item; the rule would split a longer list.
    if (list.childCount !== 1) return null
    const at = place.before(depth - 1)
    const item = nodeType('taskItem').create({ checked }, parent.content)
    return tr.replaceWith(at, at + (tr.doc.nodeAt(at)?.nodeSize ?? 0), nodeType('taskList').create(null, item))
  }
  const wrapping = [{ type: nodeType('taskList') }, { type: nodeType('taskItem'), attrs: { checked } }]
  if (!range.parent.canReplaceWith(range.startIndex, range.endIndex, nodeType('taskList'))) return null
  return place.parent.type.name === 'paragraph' ? tr.wrap(range, wrapping) : null
})

/** Makes a horizontal rule of three hyphens. */
const ruleRule = new InputRule(/^---$/, ({ tr, doc }, _, start) => {
  const place = doc.resolve(start)
  if (place.depth !== 1 || place.parent.type.name !== 'paragraph') return null
  return insertedAt(tr, place.before(), place.after(), [nodeType('horizontalRule').create(), nodeType('paragraph').create()])
})
