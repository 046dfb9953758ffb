-- The table of traces that the collector's ClickHouse exporter fills. Made before, it stays as it is. A span that
-- arrives twice has the same ids: the longer one stays, so that a run that was resumed is there once. Queries say FINAL.
CREATE DATABASE IF NOT EXISTS otel;

CREATE TABLE IF NOT EXISTS otel.otel_traces
(
    `Timestamp` DateTime64(9),
    `TraceId` String,
    `SpanId` String,
    `ParentSpanId` String,
    `TraceState` String,
    `SpanName` LowCardinality(String),
    `SpanKind` LowCardinality(String),
    `ServiceName` LowCardinality(String),
    `ResourceAttributes` Map(LowCardinality(String), String),
    `ScopeName` String,
    `ScopeVersion` String,
    `SpanAttributes` Map(LowCardinality(String), String),
    `Duration` UInt64,
    `StatusCode` LowCardinality(String),
    `StatusMessage` String,
    `Events.Timestamp` Array(DateTime64(9)),
    `Events.Name` Array(LowCardinality(String)),
    `Events.Attributes` Array(Map(LowCardinality(String), String)),
    `Links.TraceId` Array(String),
    `Links.SpanId` Array(String),
    `Links.TraceState` Array(String),
    `Links.Attributes` Array(Map(LowCardinality(String), String)),
    INDEX by_trace TraceId TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(Duration)
PARTITION BY toYYYYMM(Timestamp)
ORDER BY (ServiceName, SpanName, Timestamp, TraceId, SpanId)
TTL toDateTime(Timestamp) + INTERVAL 90 DAY
SETTINGS index_granularity = 8192;
