# Short names for what is typed often; go test ./... needs none of them.
.PHONY: all test race docs ci
all:
	CGO_ENABLED=0 go build ./cmd/dipper
test:
	go test ./...
race:
	CGO_ENABLED=1 go test -race ./...
docs:
	go test . ./internal/app ./internal/cli -run 'Document|Reference' -update
ci:
	.ci/run
