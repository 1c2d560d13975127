// The provider of y-websocket, as it is, on a prose page: `#<relay>,<document>,<page>,<token>` in the address of index.html says what to open.
import { relayWebSocket } from '@docrelay/client/y-websocket'
import { bindProse } from '@docrelay/prosemirror'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'

const [url = '', docId = '', pageId = '', token = ''] = decodeURIComponent(location.hash.slice(1)).split(',')
const ydoc = new Y.Doc()
const provider = new WebsocketProvider(`${url.replace(/^http/, 'ws')}/ws`, docId, ydoc, {
  WebSocketPolyfill: relayWebSocket({ token: () => token, onError: (error) => console.error(error) }),
})
provider.awareness.setLocalStateField('user', { name: 'y-websocket', color: '#16a34a' })
provider.once('sync', () => {
  const element = document.querySelector<HTMLElement>('#editor')
  if (element !== null) bindProse({ ydoc, awareness: provider.awareness }, pageId, { element })
})
