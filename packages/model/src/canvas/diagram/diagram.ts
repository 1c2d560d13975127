import type { Side } from '../geometry/anchors.ts'
import type { Bounds, Point } from '../geometry/bounds.ts'
import type { TakenRoute } from '../router/care.ts'
import type { Size } from './node-size.ts'

export type { Side }

/** The input of a layout: nodes with sizes, edges whose ends are indexes into `nodes`, and the content of the page. */
export interface DiagramRequest {
  readonly nodes: readonly DiagramNode[]
  readonly edges: readonly DiagramEdge[]
  readonly layout: 'layered' | 'grid'
  readonly direction: 'TB' | 'LR'
  readonly routing: 'orthogonal' | 'straight'
  /** The boxes of shapes on the page that new nodes and edges must avoid. Fixed nodes are not among them. */
  readonly obstacles: readonly Bounds[]
  /** The connectors on the page. The anchor of an attached end is `<name of the shape> <side>`, such as `s1 right`. */
  readonly taken: readonly TakenRoute[]
  /** The bounds of the shape beside which the new nodes are placed; `null`: no such shape. [AG-107] */
  readonly near: Bounds | null
}

export interface DiagramNode {
  /** The name of the node in anchors of `taken`. For a shape on the page it is the shape's id. */
  readonly name: string
  /** Width and height are even integers when the layout places the node. */
  readonly width: number
  readonly height: number
  /** The centre of a fixed node; `null`: the layout places the node. [AG-106] */
  readonly at: Point | null
}

export interface DiagramEdge {
  readonly from: number
  readonly to: number
  /** The size of the label of the edge; `null` when the edge has no label. */
  readonly label: Size | null
}

export interface DiagramLayout {
  /** The centre of each node, in the order of the nodes. */
  readonly centres: readonly Point[]
  readonly edges: readonly RoutedEdge[]
  /** The bounding box of all nodes and edges of the request. */
  readonly bounds: Bounds
  /** `false`: the request names a shape in `near`, but there is no room near that shape. [AG-107] */
  readonly isNear: boolean
}

export interface RoutedEdge {
  readonly startAnchor: Side
  readonly endAnchor: Side
  readonly start: Point
  readonly end: Point
  /** The points between the ends of the edge; `null` with straight routing, which stores no points. [DIAG-14, DIAG-16] */
  readonly waypoints: readonly Point[] | null
  /** `false`: no clear way was found, so the waypoints are those of the direct way. Absent with straight routing. [DIAG-14] */
  readonly isClear?: false
  /** Where the middle of the label lies, as a share of the way from 0 to 1; `null` is 0.5. [DIAG-12] */
  readonly labelPosition: number | null
}
