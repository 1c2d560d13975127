import type { Node } from 'prosemirror-model'
import { Plugin, PluginKey } from 'prosemirror-state'
import { Decoration, DecorationSet } from 'prosemirror-view'
import type { Awareness } from 'y-protocols/awareness'

/** How long the blocks that an agent wrote stay marked, in ms. The relay shows the agent for the same time. [PRES-3] */
export const MARKED_MS = 8_000
const NAME_CHARACTERS = 40
const MOST_BLOCKS = 50

/** An edit of an agent on a page, as the agent's presence describes it. [PRES-1] */
export interface AgentEdit {
  /** The awareness client of the agent. */
  readonly client: number
  readonly name: string
  /** Id of the call, by which the edit can be undone; `null` when the relay did not send it. */
  readonly callId: string | null
  /** Ids of the blocks that were written. */
  readonly blocks: readonly string[]
}

/** Returns the edit that an awareness state describes, or `null`. Checks everything, because any client can send any state. */
export function agentEditOf(client: number, state: unknown, pageId: string): AgentEdit | null {
  const user = memberOf(state, 'user')
  if (memberOf(user, 'kind') !== 'agent' || memberOf(user, 'page') !== pageId) return null
  const [name, callId, selection] = ['name', 'callId', 'selection'].map((member) => memberOf(user, member))
  const blocks = Array.isArray(selection) ? selection.filter((id) => typeof id === 'string').slice(0, MOST_BLOCKS) : []
  if (blocks.length === 0 && typeof callId !== 'string') return null
  return {
    client,
    name: typeof name === 'string' && name.trim() !== '' ? name.slice(0, NAME_CHARACTERS) : 'Agent',
    callId: typeof callId === 'string' ? callId : null,
    blocks,
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

/** Calls `onEdit` once for each edit of an agent on a page. The returned function ends this. */
export function watchAgents(awareness: Awareness, pageId: string, onEdit: (edit: AgentEdit) => void): () => void {
  const told = new Map<number, string>()
  const look = () => {
    for (const client of told.keys()) if (!awareness.states.has(client)) told.delete(client)
    for (const [client, state] of awareness.states) {
      const edit = client === awareness.clientID ? null : agentEditOf(client, state, pageId)
      if (edit === null) continue
      const written = JSON.stringify([edit.callId, edit.blocks])
      if (told.get(client) === written) continue
      told.set(client, written)
      onEdit(edit)
    }
  }
  look()
  awareness.on('change', look)
  return () => awareness.off('change', look)
}

interface Marks {
  readonly edits: readonly AgentEdit[]
  readonly decorations: DecorationSet
}

const key = new PluginKey<Marks>('agentEdits')

/**
 * Marks blocks that agents wrote, as decorations, so that the page is not drawn again. The binding replaces the whole page for every edit of
 * others. So blocks are looked up by id, and only while something is marked.
 */
export function agentMarks(): Plugin {
  return new Plugin<Marks>({
    key,
    state: {
      init: () => ({ edits: [], decorations: DecorationSet.empty }),
      apply(tr, before) {
        const edits = (tr.getMeta(key) as readonly AgentEdit[] | undefined) ?? before.edits
        if (edits === before.edits && (!tr.docChanged || edits.length === 0)) return before
        return { edits, decorations: edits.length === 0 ? DecorationSet.empty : decorationsOf(tr.doc, edits) }
      },
    },
    props: { decorations: (state) => key.getState(state)?.decorations },
  })
}

/** Transaction metadata that replaces the marked edits. */
export const marked = { key, of: (edits: readonly AgentEdit[]) => edits }

function decorationsOf(doc: Node, edits: readonly AgentEdit[]): DecorationSet {
  const byId = new Map<string, { readonly edit: AgentEdit; readonly isFirst: boolean }>()
  // A block is marked for its latest edit.
  for (const edit of edits) for (const [at, id] of edit.blocks.entries()) byId.set(id, { edit, isFirst: at === 0 })
  const found: Decoration[] = []
  doc.descendants((node, at) => {
    const mark = byId.get(node.attrs['id'] as string)
    if (mark !== undefined)
      found.push(
        Decoration.node(at, at + node.nodeSize, {
          class: 'agent-mark',
          ...(mark.isFirst ? { 'data-agent': mark.edit.name } : {}),
        }),
      )
    return !node.isTextblock && found.length < byId.size
  })
  return DecorationSet.create(doc, found)
}
