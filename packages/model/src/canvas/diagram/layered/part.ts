/**
 * One connected part of a diagram, as the layered layout sees it. Edges point down, as in TB; for LR, x and y are exchanged. Nodes are numbered
 * in input order.
 */
export interface Part {
  readonly boxes: readonly PartBox[]
  readonly edges: readonly PartEdge[]
}

/** How far a node reaches from its middle. `right` and `down` include its loops. */
export interface PartBox {
  readonly left: number
  readonly right: number
  readonly up: number
  readonly down: number
  /** Half the width and half the height of the node alone. */
  readonly halfWidth: number
  readonly halfHeight: number
}

/** An edge between two different nodes. */
export interface PartEdge {
  readonly from: number
  readonly to: number
  /** The size of the label of the edge across and along the direction of the layers; 0 without a label. */
  readonly labelAcross: number
  readonly labelAlong: number
  /** The position of the middle of the label, as a share of the way of the edge from 0 to 1. */
  readonly labelAt: number
}

export const NODE_GAP = 80
export const STUB = 20
export const LANE = 12
