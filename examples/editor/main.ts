// The page at index.html: `#<relay>,<document>,<page>,<token>` in its address says what to open.
import { join, openPage, show } from './editor.ts'

const [relay = '', docId = '', pageId = '', token = ''] = decodeURIComponent(location.hash.slice(1)).split(',')
const client = await join(`${relay.replace(/^http/, 'ws')}/ws`, docId, token, 'Somebody')
show(document.body, openPage(client, pageId))
