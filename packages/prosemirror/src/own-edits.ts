import { defaultDeleteFilter, defaultProtectedNodes, ySyncPluginKey } from 'y-prosemirror'
import * as Y from 'yjs'
import { proseSchema } from './prose-schema.ts'

/** A Yjs type with a list of items: an element or a text. */
type Holder = Pick<Y.XmlFragment, '_start'>

/**
 * The undo history of a page. Undo takes back what this person did, and nothing that others wrote [CON-30, CONC-8]. A block that this person made
 * and others wrote into stays, without this person's own words. The undo of Yjs alone would delete the block with all of its content.
 */
export class OwnEdits extends Y.UndoManager {
  /** The stack as it was before the running undo or redo took entries from it. */
  #before: readonly Y.UndoManager['undoStack'][number][] = []
  /** Whether an element holds content of others. Cached, since this does not change during one undo, so that a large paste is walked once. */
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

  /** Whether undo may delete an item. Yjs asks for children before their parent, and for the attributes of an element before its children. */
  #mayGo(item: Y.Item): boolean {
    const { content, parent, parentSub } = item
    if (parentSub !== null) return parentSub === 'id' || !this.#staysWithElement(parent)
    if (!(content instanceof Y.ContentType)) return true
    if (!(content.type instanceof Y.XmlElement)) return defaultDeleteFilter(item, defaultProtectedNodes)
    return isEmpty(content.type) && !this.#isNeeded(item)
  }

  /**
   * Whether an attribute stays because its element stays; a heading, for example, keeps its level. The id is no such attribute, since it belongs
   * to the block that undo restores.
   */
  #staysWithElement(element: unknown): boolean {
    if (!(element instanceof Y.XmlElement) || element._item === null) return false
    const entry = this.#before[(this.undoing ? this.undoStack : this.redoStack).length]
    // An attribute set after the element was made is undone on its own.
    if (entry === undefined || !Y.isDeleted(entry.insertions, element._item.id)) return false
    return this.#isShared(element) || this.#isNeeded(element._item)
  }

  /**
   * Whether the content model of the parent requires this item, next to content of others. Without it the parent would be invalid, and the page
   * could not be edited any more.
   */
  #isNeeded(item: Y.Item): boolean {
    const { parent } = item
    if (!(parent instanceof Y.XmlElement) || !this.#isShared(parent)) return false
    let match = proseSchema.nodes[parent.nodeName]?.contentMatch
    // Required content comes first in an element, and the content after it is optional.
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

/** Whether an element has no content. An editor leaves an empty text where the last character was deleted. */
function isEmpty(element: Y.XmlElement): boolean {
  return element.length === 0 || element.toArray().every((part) => part instanceof Y.XmlText && part.length === 0)
}
