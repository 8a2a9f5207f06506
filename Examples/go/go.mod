module example

go 1.19

require netkit/bindings/go v0.0.0

replace netkit/bindings/go => ../../bindings/go
