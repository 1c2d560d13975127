import { defaultDeleteFilter, defaultProtectedNodes, ySyncPluginKey } from 'y-prosemirror'
import * as Y from 'yjs'
import { proseSchema } from './prose-schema.ts'

/** A Yjs type with a list of items: an element or a text. */
type Holder = Pick<Y.XmlFragment, '_start'>

/**
 * The undo history of a page. Undo takes back what this person did, and nothing that others wrote into it [CON-30, CONC-8]: a block of this
 * person that holds words of others stays, without this person's own words. Yjs alone would delete it with all that is in it.
 */
export class OwnEdits extends Y.UndoManager {
  /** The entries as they were before undo or redo took the last ones. */
  #before: readonly Y.UndoManager['undoStack'][number][] = []
  /** Whether elements hold something of others; while an entry is undone this does not change, and a large paste is walked once. */
  #shared = new Map<Holder, boolean>()

  constructor(fragment: Y.XmlFragment) {
    super(fragment, {
      trackedOrigins: new Set([ySyncPluginKey]),
      deleteFilter: (item) => this.#mayGo(item),
      captureTransaction: ({ meta }) => meta.get('addToHistory') !== false,
    })
  }

  override undo(): ReturnType<Y.UndoManager['undo']> {
    return this.#with(this.undoStack, () => super.undo())
  }

  override redo(): ReturnType<Y.UndoManager['redo']> {
    return this.#with(this.redoStack, () => super.redo())
  }

  #with<T>(stack: Y.UndoManager['undoStack'], change: () => T): T {
    this.#before = [...stack]
    this.#shared = new Map()
    try {
      return change()
    } finally {
      this.#before = []
      this.#shared.clear()
    }
  }

  /** Yjs asks for children before it asks for what holds them, and for the attributes of an element before its children. */
  #mayGo(item: Y.Item): boolean {
    const { content, parent, parentSub } = item
    if (parentSub !== null) return parentSub === 'id' || !this.#staysWithElement(parent)
    if (!(content instanceof Y.ContentType)) return true
    if (!(content.type instanceof Y.XmlElement)) return defaultDeleteFilter(item, defaultProtectedNodes)
    return isEmpty(content.type) && !this.#isNeeded(item)
  }

  /** A heading that stays keeps its level. Its id does not stay: that belongs to the block that undo brings back in its place. */
  #staysWithElement(element: unknown): boolean {
    if (!(element instanceof Y.XmlElement) || element._item === null) return false
    const entry = this.#before[(this.undoing ? this.undoStack : this.redoStack).length]
    // What was set later than the element was made is undone on its own.
    if (entry === undefined || !Y.isDeleted(entry.insertions, element._item.id)) return false
    return this.#isShared(element) || this.#isNeeded(element._item)
  }

  /** Without it, what others wrote beside it would stand in an element that may not be so, and the page could not be edited any more. */
  #isNeeded(item: Y.Item): boolean {
    const { parent } = item
    if (!(parent instanceof Y.XmlElement) || !this.#isShared(parent)) return false
    let match = proseSchema.nodes[parent.nodeName]?.contentMatch
    // What an element must hold comes first in it, and what follows that may be there or not.
    for (let other = parent._start; other !== null && match?.validEnd === false; other = other.right) {
      const { type } = other.content as Partial<Y.ContentType>
      if (other.deleted || other === item || !(type instanceof Y.XmlElement)) continue
      const kind = proseSchema.nodes[type.nodeName]
      match = (kind && match.matchType(kind)) ?? undefined
    }
    return match?.validEnd !== true
  }

  #isShared(type: Holder): boolean {
    const known = this.#shared.get(type)
    if (known !== undefined) return known
    let isShared = false
    for (let item = type._start; item !== null && !isShared; item = item.right) {
      if (item.deleted || !item.countable) continue
      const inner = item.content instanceof Y.ContentType ? item.content.type : null
      const isOthers = item.id.client !== this.doc.clientID && !(inner instanceof Y.XmlText)
      isShared = isOthers || (inner !== null && this.#isShared(inner))
    }
    this.#shared.set(type, isShared)
    return isShared
  }
}

/** An editor leaves an empty text where the last character was deleted. */
function isEmpty(element: Y.XmlElement): boolean {
  return element.length === 0 || element.toArray().every((part) => part instanceof Y.XmlText && part.length === 0)
}
