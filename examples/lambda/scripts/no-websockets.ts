/** Stands in for the package `ws` in the bundle. */
export const WebSocket = undefined
export const WebSocketServer = undefined
