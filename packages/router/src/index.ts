export { MetricsText } from "./MetricsText.ts"
export * as Routes from "./Routes.ts"
export { createTachograph, type RecordOptions, type Tachograph, type TachographOptions } from "./Tachograph.ts"
export { defaultMaxBody } from "./RequestBody.ts"
