import type { JsonObject } from '@docrelay/model/json'
import { useSignalEffect } from '@preact/signals'
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { PageViewProps } from '../app/views.ts'
import { shownOf } from '../prose/shown-page.ts'
import { canvasTexts as texts } from './canvas.en.ts'
import { CanvasEditor } from './canvas-editor.ts'
import { CanvasKeys } from './canvas-keys.ts'
import { CanvasOutline } from './canvas-outline.tsx'
import { CanvasOverlay } from './canvas-overlay.tsx'
import { CanvasToolbar } from './canvas-toolbar.tsx'
import { clipboardText, shapesOfClipboard } from './clipboard.ts'
import { ConnectMenu } from './connect-menu.tsx'
import { KeysHelp } from './keys-help.tsx'
import { LabelEditor } from './label-editor.tsx'
import { pointerOf } from './pointer-events.ts'
import { PointerGestures } from './pointer-gestures.ts'
import { ShapeList } from './shape-list.tsx'
import './canvas.css'

/** A canvas page of an open document, to be drawn on together. */
export function CanvasPage({ session, document: opened, pageId }: PageViewProps) {
  const parts = useMemo(() => {
    const editor = new CanvasEditor(opened, pageId, {
      announce: session.announce,
      newId: () => `shape-${randomName()}`,
      onFrame: (draw) => void requestAnimationFrame(draw),
    })
    const gestures = new PointerGestures(editor)
    return { editor, gestures, keys: new CanvasKeys(editor, gestures) }
  }, [opened, pageId])
  const { editor, keys } = parts
  useEffect(() => () => (keys.settle(), editor.destroy()), [parts])
  useSignalEffect(() => {
    // Following another person could show another page, which would close the text that is edited.
    if (editor.editing.value !== null) shownOf(opened).followed.value = null
  })
  const [isOutlineOpen, setOutlineOpen] = useState(false)
  const [isHelpOpen, setHelpOpen] = useState(false)
  const list = useRef<HTMLDivElement>(null)
  const focusList = (): void => list.current?.focus({ preventScroll: true })

  return (
    <section class="canvas-page" data-page={pageId} aria-label={texts.page}>
      <CanvasToolbar
        editor={editor}
        keys={keys}
        isOutlineOpen={isOutlineOpen}
        onOutline={() => setOutlineOpen(!isOutlineOpen)}
        onKeys={() => setHelpOpen(true)}
      />
      <div class="canvas-room">
        <CanvasView {...parts} list={list} focusList={focusList} onHelp={() => setHelpOpen(true)} />
        {isOutlineOpen && <CanvasOutline editor={editor} />}
      </div>
      {isHelpOpen && <KeysHelp onClose={() => setHelpOpen(false)} />}
    </section>
  )
}

interface ViewProps {
  readonly editor: CanvasEditor
  readonly gestures: PointerGestures
  readonly keys: CanvasKeys
  readonly list: { current: HTMLDivElement | null }
  readonly focusList: () => void
  readonly onHelp: () => void
}

/** The area in which the page is drawn, on white in every colour scheme. [CANVAS-26] */
function CanvasView({ editor, gestures, keys, list, focusList, onHelp }: ViewProps) {
  const place = useRef<HTMLDivElement>(null)
  const world = useRef<HTMLDivElement>(null)
  const keysId = useId()

  useLayoutEffect(() => {
    const [element, root] = [place.current, world.current]
    if (element === null || root === null) return
    root.replaceChildren()
    editor.attach(root, sizeOf(element))
    const observer = new ResizeObserver(() => editor.resize(sizeOf(element)))
    observer.observe(element)
    return () => observer.disconnect()
  }, [editor])
  useSignalEffect(() => {
    const { left, top, scale } = editor.view.value
    // Scales the element around the drawing. If the drawing itself was scaled, the browser would lay out its text again at every step of a zoom.
    if (world.current !== null) world.current.style.transform = `scale(${scale}) translate(${-left}px, ${-top}px)`
  })

  const isEmpty = (editor.version.value, editor.page.shapes.size === 0)
  const tool = editor.tool.value
  return (
    <div
      class={`canvas-view canvas-tool-${tool === 'select' || tool === 'hand' ? tool : 'add'}`}
      ref={place}
      onPointerDown={(event) => {
        if (isField(event.target)) return
        event.preventDefault()
        keys.settle()
        focusList()
        event.currentTarget.setPointerCapture(event.pointerId)
        gestures.down(pointerOf(event, event.currentTarget))
      }}
      onPointerMove={(event) => gestures.move(pointerOf(event, event.currentTarget))}
      onPointerUp={(event) => gestures.up(pointerOf(event, event.currentTarget))}
      onPointerCancel={() => gestures.cancel()}
      onPointerLeave={() => gestures.leave()}
      onDblClick={(event) => {
        if (isField(event.target)) return
        const id = gestures.shapeAt(pointerOf(event, event.currentTarget))
        if (id === null) return
        editor.select([id], id)
        editor.edit(id)
      }}
      onWheel={(event) => {
        if (isField(event.target)) return
        event.preventDefault()
        const factor = event.deltaMode === 1 ? 16 : 1
        const [dx, dy] = event.shiftKey && event.deltaX === 0 ? [event.deltaY, 0] : [event.deltaX, event.deltaY]
        gestures.wheel(pointerOf(event, event.currentTarget), dx * factor, dy * factor, event.ctrlKey || event.metaKey)
      }}
    >
      <ShapeList
        editor={editor}
        listRef={list}
        keysId={keysId}
        events={{
          onKeyDown: (event) => {
            if (event.target !== event.currentTarget) return
            if (event.key === '?') onHelp()
            if (keys.down(event)) event.preventDefault()
          },
          onKeyUp: (event) => keys.up(event),
          onBlur: () => {
            gestures.isSpaceDown = false
            keys.settle()
          },
          onCopy: (event) => clip(event, editor.copy()),
          onCut: (event) => editor.cut((copies) => clip(event, copies)),
          onPaste: (event) => {
            const copies = shapesOfClipboard(event.clipboardData)
            if (copies.length === 0) return
            event.preventDefault()
            editor.paste(copies)
          },
        }}
      />
      <div class="canvas-paper" aria-hidden="true">
        <div class="canvas-drawing" ref={world} />
      </div>
      <CanvasOverlay editor={editor} gestures={gestures} />
      <LabelEditor editor={editor} onClosed={focusList} />
      <ConnectMenu editor={editor} onClosed={focusList} />
      {isEmpty && <p class="canvas-empty">{editor.readOnly.value ? texts.emptyReadOnly : texts.empty}</p>}
      <p id={keysId} class="visually-hidden">
        {editor.readOnly.value ? texts.readOnly : texts.keys}
      </p>
    </div>
  )
}

function clip(event: ClipboardEvent, copies: readonly JsonObject[]): boolean {
  if (copies.length === 0 || event.clipboardData === null) return false
  event.preventDefault()
  for (const [type, text] of Object.entries(clipboardText(copies))) event.clipboardData.setData(type, text)
  return true
}

function sizeOf({ clientWidth, clientHeight }: Element) {
  return { width: clientWidth, height: clientHeight }
}

/** Whether an event belongs to a field above the drawing and not to the drawing. */
function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('textarea, .canvas-connect') !== null
}

/** Ten random letters. */
function randomName(): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'
  return Array.from(crypto.getRandomValues(new Uint8Array(10)), (byte) => letters[byte % letters.length]).join('')
}
