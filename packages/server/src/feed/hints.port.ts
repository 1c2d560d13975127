/**
 * Hints tell other nodes at once that a row of the change feed is committed. They only make delivery faster: every node
 * reads the feed every 2 s anyway, so hints may be lost, doubled, late, in any order, or forged. For that reason a hint
 * carries no content, only the id of a row, which the receiver reads from the database. [LIFE-27]
 */
export interface FeedHints {
  /**
   * Sends a hint to all nodes that follow the workspace; this node may hear it too. Call it after the commit. Returns at
   * once and never throws: a hint that cannot be sent is dropped, not kept for later.
   *
   * @param id - `change_feed.id` of the committed row, a positive integer.
   */
  publish(workspaceId: string, id: number): void
  /** Adds a listener, which must not throw; the returned function removes it. */
  onHint(listener: FeedHintListener): () => void
  /**
   * Subscribes to the hints of a workspace until the returned function is called, because this node has sockets or watches
   * there. The same workspace may be followed several times. Hints of workspaces that nobody follows need not arrive.
   */
  follow(workspaceId: string): () => void
}

/** A driver checks only that `id` is a positive safe integer, so a listener must expect an id that no row has. */
export type FeedHintListener = (workspaceId: string, id: number) => void
