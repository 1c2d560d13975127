/** A frame from a peer that is not well formed. It ends the link. */
export class LinkFrameError extends Error {
  override readonly name = 'LinkFrameError'
}
