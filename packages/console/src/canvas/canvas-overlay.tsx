import type { Point } from '@docrelay/model/canvas/geometry/bounds'
import { anchorPoint, type Side } from '@docrelay/model/canvas/geometry/anchors'
import { type ShapeBox, uprightBox } from '@docrelay/model/canvas/geometry/shape-box'
import { canvasTexts as texts } from './canvas.en.ts'
import type { CanvasEditor } from './canvas-editor.ts'
import { isConnectable, isResizable } from './page-edits.ts'
import { inkOn, type Peer } from './peers.ts'
import type { PointerGestures } from './pointer-gestures.ts'
import { handlePoint, HANDLES } from './resize.ts'
import { toScreen, type View } from './view-area.ts'

const SIDES: readonly Side[] = ['top', 'right', 'bottom', 'left']
/** The distance, in pixels, from a shape to the dots from which connectors are drawn. */
const DOT_DISTANCE = 18
const MOST_FRAMES = 200
/** Smallest shown size of a shape with corner handles, in pixels. Handles would hide a smaller shape. */
const LEAST_FOR_CORNERS = 14
const LEAST_FOR_SIDES = 36

interface OverlayProps {
  readonly editor: CanvasEditor
  readonly gestures: PointerGestures
}

/**
 * The layer above the drawing, which is not part of the document: frames, handles, and the places of others. In pixels, so that a zoom does not
 * scale it.
 */
export function CanvasOverlay({ editor, gestures }: OverlayProps) {
  const { selection, active, view, peers, readOnly } = editor
  const chosen = [...selection.value].slice(0, MOST_FRAMES)
  const only = chosen.length === 1 && !readOnly.value ? chosen[0] : undefined
  const focused = active.value !== null && !selection.value.has(active.value) ? active.value : null
  return (
    <svg class="canvas-overlay" aria-hidden="true">
      {peers.value.map((peer) => (
        <PeerFrames key={peer.clientId} peer={peer} editor={editor} />
      ))}
      {chosen.map((id) => (
        <Frame key={id} id={id} editor={editor} class="canvas-frame" />
      ))}
      {focused !== null && <Frame id={focused} editor={editor} class="canvas-focus" />}
      {only !== undefined && <Grips id={only} editor={editor} />}
      <Gesture view={view.value} editor={editor} gestures={gestures} />
    </svg>
  )
}

/** Makes a component render again with each frame, because the places at which shapes are shown have no signal of their own. */
function followDrawing({ drawing }: CanvasEditor): void {
  void drawing.frame.value
}

/** The frame around a shape: turned with a box, along the way of a connector. */
function Frame(props: { readonly id: string; readonly editor: CanvasEditor; readonly class: string; readonly color?: string }) {
  const { id, editor, color } = props
  followDrawing(editor)
  const drawn = editor.drawing.scene?.drawnOf(id)
  const view = editor.view.value
  const stroke = color === undefined ? {} : { style: { stroke: color } }
  if (drawn?.way) {
    const way = drawn.way.map((point) => pair(toScreen(view, point))).join(' ')
    return <polyline class={`${props.class} canvas-frame-line`} points={way} {...stroke} />
  }
  const box = shownBox(id, editor)
  if (box === null) return null
  const grown = { ...box, width: box.width + 4 / view.scale, height: box.height + 4 / view.scale }
  const corners = [0, 2, 4, 6].map((at) => toScreen(view, handlePoint(grown, HANDLES[at] as (typeof HANDLES)[number])))
  return <polygon class={props.class} points={corners.map(pair).join(' ')} {...stroke} />
}

function shownBox(id: string, { drawing }: CanvasEditor): ShapeBox | null {
  const box = drawing.scene?.drawnOf(id)?.box ?? drawing.boxOf(id)
  if (box !== null) return box
  const bounds = drawing.boundsOf(id)
  return bounds === null ? null : uprightBox(bounds)
}

/** The handles of the one selected shape, and the dots from which it is connected. */
function Grips({ id, editor }: { readonly id: string; readonly editor: CanvasEditor }) {
  followDrawing(editor)
  const value = editor.page.shapes.get(id)
  const box = value === undefined || !isConnectable(value) ? null : shownBox(id, editor)
  if (value === undefined || box === null) return null
  const view = editor.view.value
  const least = Math.min(box.width, box.height) * view.scale
  const handles = least < LEAST_FOR_CORNERS ? [] : HANDLES.filter(({ x, y }) => least >= LEAST_FOR_SIDES || (x !== 0 && y !== 0))
  const far = { ...box, width: box.width + (2 * DOT_DISTANCE) / view.scale, height: box.height + (2 * DOT_DISTANCE) / view.scale }
  return (
    <g>
      {isResizable(value) &&
        handles.map((handle) => {
          const { x, y } = toScreen(view, handlePoint(box, handle))
          const turn = `rotate(${box.rotation} ${x} ${y})`
          const name = `${handle.x},${handle.y}`
          return (
            <g
              key={name}
              class={`canvas-handle canvas-handle-${cursorOf(handle.x, handle.y)}`}
              data-handle={name}
              transform={turn}
            >
              <rect class="canvas-grip-room" x={x - 10} y={y - 10} width={20} height={20} />
              <rect x={x - 4} y={y - 4} width={8} height={8} rx={2} />
            </g>
          )
        })}
      {SIDES.map((side) => {
        const { x, y } = toScreen(view, anchorPoint(far, side))
        return (
          <g key={side} class="canvas-dot" data-side={side}>
            <circle class="canvas-grip-room" cx={x} cy={y} r={11} />
            <circle cx={x} cy={y} r={5} />
          </g>
        )
      })}
    </g>
  )
}

function cursorOf(x: number, y: number): string {
  if (x === 0) return 'ns'
  return y === 0 ? 'ew' : x === y ? 'nwse' : 'nesw'
}

function Gesture({ view, editor, gestures }: OverlayProps & { readonly view: View }) {
  const area = gestures.area.value
  const reaching = gestures.reaching.value
  if (area !== null) {
    const [a, b] = [toScreen(view, { x: area.left, y: area.top }), toScreen(view, { x: area.right, y: area.bottom })]
    const isNew = editor.tool.value !== 'select'
    return <rect class={isNew ? 'canvas-new' : 'canvas-area'} x={a.x} y={a.y} width={b.x - a.x} height={b.y - a.y} />
  }
  if (reaching === null) return null
  const box = shownBox(reaching.from, editor)
  if (box === null) return null
  const [from, to] = [toScreen(view, anchorPoint(box, reaching.side)), toScreen(view, reaching.to)]
  return (
    <g>
      {reaching.target !== null && <Frame id={reaching.target} editor={editor} class="canvas-target" />}
      <line class="canvas-reach" x1={from.x} y1={from.y} x2={to.x} y2={to.y} />
      <circle class="canvas-reach-end" cx={to.x} cy={to.y} r={4} />
    </g>
  )
}

/** The frames of the shapes that a person selected or an agent wrote, with their name and their pointer. */
function PeerFrames({ peer, editor }: { readonly peer: Peer; readonly editor: CanvasEditor }) {
  followDrawing(editor)
  const { drawing } = editor
  const view = editor.view.value
  const name = peer.isAgent ? texts.agent(peer.name) : peer.name
  const bounds = peer.selection.flatMap((id) => (editor.page.shapes.has(id) ? (drawing.boundsOf(id) ?? []) : []))
  const [first] = bounds.toSorted((a, b) => a.top - b.top || a.left - b.left)
  const pointer = peer.pointer === null ? null : toScreen(view, peer.pointer)
  return (
    <g>
      {peer.selection.map((id) => (
        <Frame
          key={id}
          id={id}
          editor={editor}
          class={peer.isAgent ? 'canvas-peer canvas-agent' : 'canvas-peer'}
          color={peer.color}
        />
      ))}
      {first !== undefined && <NameTag name={name} color={peer.color} at={toScreen(view, { x: first.left, y: first.top })} />}
      {pointer !== null && (
        <g transform={`translate(${pointer.x} ${pointer.y})`}>
          <path class="canvas-pointer" d="M0 0 0 14 4 10.500 9.500 10z" style={{ fill: peer.color }} />
          {first === undefined && <NameTag name={name} color={peer.color} at={{ x: 12, y: 30 }} />}
        </g>
      )}
    </g>
  )
}

const LETTER = 7

function NameTag({ name, color, at }: { readonly name: string; readonly color: string; readonly at: Point }) {
  if (name === '') return null
  const shown = name.length > 28 ? `${name.slice(0, 27)}…` : name
  const width = shown.length * LETTER + 12
  return (
    <g transform={`translate(${Math.round(at.x) - 2} ${Math.round(at.y) - 24})`}>
      <rect width={width} height={18} rx={4} style={{ fill: color }} />
      <text class="canvas-name" x={width / 2} y={13} style={{ fill: inkOn(color) }}>
        {shown}
      </text>
    </g>
  )
}

function pair({ x, y }: Point): string {
  return `${Math.round(x * 10) / 10},${Math.round(y * 10) / 10}`
}
